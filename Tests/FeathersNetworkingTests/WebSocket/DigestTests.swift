import Foundation
import Testing

@testable import FeathersNetworking

@Suite("SHA-1")
struct DigestTests {
    @Test(
        "SHA-1 gives what RFC 3174 and others say",
        arguments: [
            ("", "2jmj7l5rSw0yVb/vlWAYkK/YBwk="), ("abc", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="),
            ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "hJg+RBw70m66rkqh+VEp5eVGcPE="),
            (String(repeating: "a", count: 1000), "KR6abGaZSUm1e6XmUDYemPw2sbo="),
        ]
    )
    func sha1(text: String, digest: String) {
        #expect(Data(SHA1.digest(text.utf8)).base64EncodedString() == digest)
    }
}

import Testing

@testable import FeathersNetworking

@Suite("SHA-1 and base64")
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
        #expect(Base64.encoded(SHA1.digest(text.utf8)) == digest)
    }

    @Test(
        "base64 pads as RFC 4648 does",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ]
    )
    func base64(text: String, encoded: String) {
        #expect(Base64.encoded(text.utf8) == encoded)
    }
}

import FeathersSupport
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "The vectors of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                """
                abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu
                """,
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func vectors(_ text: String, _ digest: String) {
        #expect(SHA256.hex(text.utf8) == digest)
    }

    @Test("Every length around the ends of blocks")
    func lengths() {
        // The digest of the digests of the bytes 0, 1, 2 … of every length, as OpenSSL computes it.
        let digests = (0...200).map { length in SHA256.hex((0..<length).map { UInt8($0) }) }.joined()
        #expect(SHA256.hex(digests.utf8) == "b367ea311264aae50e6260b96a10761169ce3eec5d5f8f2258351f82c7252776")
    }
}

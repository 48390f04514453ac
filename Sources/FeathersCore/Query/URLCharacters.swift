/// The ASCII characters that are written into a URL as they are, as two words of bits.
struct URLCharacters: Sendable {
    private var lower: UInt64 = 0
    private var upper: UInt64 = 0

    /// What `qs` leaves alone: RFC 3986's unreserved characters.
    static let unreserved = URLCharacters(lettersAndDigitsAnd: "-._~")

    /// What `encodeURIComponent` leaves alone.
    static let uriComponent = URLCharacters(lettersAndDigitsAnd: "-._~!*'()")

    private init(lettersAndDigitsAnd others: String) {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        for byte in (letters + letters.uppercased() + "0123456789" + others).utf8 {
            if byte < 64 { lower |= 1 << UInt64(byte) } else { upper |= 1 << UInt64(byte - 64) }
        }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return lower &>> UInt64(byte) & 1 == 1 }
        return byte < 128 && upper &>> UInt64(byte &- 64) & 1 == 1
    }
}

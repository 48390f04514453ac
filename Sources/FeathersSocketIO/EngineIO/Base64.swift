/// Base64 as RFC 4648 (section 4) defines it, padded: how bytes travel in a text.
package enum Base64 {
    package struct DecodingError: Error, Hashable {
        /// How many bytes stand before the one at fault.
        package let offset: Int
    }

    /// How many characters so many bytes become.
    static func encodedSize(of count: Int) -> Int { (count + 2) / 3 * 4 }

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(encodedSize(of: bytes.count))
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            let second = count > 1 ? bytes[index + 1] : 0
            let third = count > 2 ? bytes[index + 2] : 0
            let group = UInt32(bytes[index]) << 16 | UInt32(second) << 8 | UInt32(third)
            text.append(alphabet[Int(group >> 18)])
            text.append(alphabet[Int(group >> 12 & 63)])
            text.append(count > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            text.append(count > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
            index += 3
        }
        return text
    }

    package static func decode(_ text: some Collection<UInt8>) throws(DecodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var digits = 0
        var padding = 0
        var offset = 0
        for character in text {
            defer { offset += 1 }
            if character == UInt8(ascii: "=") {
                padding += 1
                guard padding <= 2, digits + padding <= 4, digits >= 2 else { throw DecodingError(offset: offset) }
                continue
            }
            guard padding == 0, let digit = digit(character) else { throw DecodingError(offset: offset) }
            group = group << 6 | digit
            digits += 1
            if digits == 4 {
                bytes += [UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8), UInt8(truncatingIfNeeded: group)]
                (group, digits) = (0, 0)
            }
        }
        switch (digits, padding) {
        case (0, 0): break
        case (2, 2): bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        case (3, 1): bytes += [UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)]
        default: throw DecodingError(offset: offset)
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

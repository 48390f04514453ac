extension JSONParser where Builder: ~Copyable {
    /// Reads the escape at the cursor, which stands on its backslash, and appends what it means.
    mutating func parseEscape() throws(JSONParsingError) {
        let backslash = cursor
        guard end - cursor >= 2 else { throw failure(.unexpectedEnd, at: end) }
        let kind = cursor[1]
        cursor += 2
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(kind)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "u"): try parseUnicodeEscape(startingAt: backslash)
        default: throw failure(.invalidEscape, at: backslash)
        }
    }

    /// Checks the escape at the cursor, and passes it.
    mutating func skipEscape() throws(JSONParsingError) {
        let backslash = cursor
        guard end - cursor >= 2 else { throw failure(.unexpectedEnd, at: end) }
        let kind = cursor[1]
        cursor += 2
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "t"), UInt8(ascii: "n"),
            UInt8(ascii: "f"),
            UInt8(ascii: "r"):
            break
        case UInt8(ascii: "u"): _ = try parseHexDigits(startingAt: backslash)
        default: throw failure(.invalidEscape, at: backslash)
        }
    }

    /// Reads the digits after `\u`, and a second escape where the first is half of a surrogate pair.
    private mutating func parseUnicodeEscape(startingAt backslash: UnsafePointer<UInt8>) throws(JSONParsingError) {
        let unit = try parseHexDigits(startingAt: backslash)
        if let scalar = Unicode.Scalar(unit) {
            append(scalar)
            return
        }
        // JavaScript strings may hold half of a pair; JSON.stringify sends it as an escape.
        guard unit < 0xDC00, end - cursor >= 2, cursor[0] == UInt8(ascii: "\\"), cursor[1] == UInt8(ascii: "u") else {
            append("\u{FFFD}")
            return
        }
        let second = cursor
        cursor += 2
        let low = try parseHexDigits(startingAt: second)
        if (0xDC00...0xDFFF).contains(low), let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + UInt32(low) - 0xDC00) {
            append(scalar)
        } else {
            // The first half stands alone; the second escape is read again for itself.
            append("\u{FFFD}")
            cursor = second
        }
    }

    private mutating func parseHexDigits(startingAt backslash: UnsafePointer<UInt8>) throws(JSONParsingError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard cursor < end else { throw failure(.unexpectedEnd, at: end) }
            let digit: UInt8
            switch cursor.pointee {
            case let byte where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case let byte where byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case let byte where byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw failure(.invalidEscape, at: backslash)
            }
            unit = unit << 4 | UInt16(digit)
            cursor += 1
        }
        return unit
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        unescaped.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
    }
}

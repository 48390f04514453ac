/// The result of scanning a string's plain bytes, up to a quote or a backslash.
struct ScannedRun {
    /// Whether every byte is ASCII and needs no further check.
    var isASCII: Bool
    /// Whether the scan stopped at the closing quote. Otherwise, it stopped at a backslash.
    var isComplete: Bool
}

extension JSONParser where Builder: ~Copyable {
    /// Parses the string whose opening quote is at the cursor, and consumes its closing quote.
    @inline(__always)
    mutating func parseString() throws(JSONParsingError) -> Builder.Value {
        cursor += 1
        let begin = cursor
        let run = try scanPlainBytes()
        guard run.isComplete else { return try parseEscapedString(from: begin, isASCII: run.isASCII) }
        guard let value = builder.string(plainString(from: begin, isASCII: run.isASCII)) else { throw illFormed(from: begin, to: cursor) }
        cursor += 1
        return value
    }

    /// Parses a key in the same way that `parseString` parses a string.
    @inline(__always)
    mutating func parseKeyString(in container: inout Builder.Container) throws(JSONParsingError) {
        cursor += 1
        let begin = cursor
        let run = try scanPlainBytes()
        guard run.isComplete else { return try parseEscapedKey(from: begin, isASCII: run.isASCII, in: &container) }
        guard builder.key(plainString(from: begin, isASCII: run.isASCII), in: &container) else { throw illFormed(from: begin, to: cursor) }
        cursor += 1
    }

    /// Advances to the next quote or backslash, eight bytes at a time.
    @inline(__always)
    mutating func scanPlainBytes() throws(JSONParsingError) -> ScannedRun {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits: UInt64 = 0x8080_8080_8080_8080
        var seen: UInt64 = 0
        while end - cursor >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            // (x - 1) & ~x has its high bit set in each zero byte of x, and possibly in others above the first zero byte. Only the
            // lowest set bit is reliable.
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let stops =
                (((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- ones &* 0x20) & ~word)) & highBits
            guard stops != 0 else {
                seen |= word
                cursor += 8
                continue
            }
            let lowest = stops & (0 &- stops)
            seen |= word & (lowest &- 1)
            cursor += stops.trailingZeroBitCount >> 3
            break
        }
        var isASCII = seen & highBits == 0
        while cursor < end {
            let byte = cursor.pointee
            if byte == UInt8(ascii: "\"") { return ScannedRun(isASCII: isASCII, isComplete: true) }
            if byte == UInt8(ascii: "\\") { return ScannedRun(isASCII: isASCII, isComplete: false) }
            guard byte >= 0x20 else { throw failure(.controlCharacter(byte), at: cursor) }
            if byte >= 0x80 { isASCII = false }
            cursor += 1
        }
        throw failure(.unexpectedEnd, at: end)
    }

    @inline(__always)
    private func plainString(from begin: UnsafePointer<UInt8>, isASCII: Bool) -> ParsedString {
        let bytes = UnsafeBufferPointer(start: begin, count: cursor - begin)
        return ParsedString(bytes: bytes, offset: begin - start, length: bytes.count, isASCII: isASCII, hasEscapes: false)
    }

    private func illFormed(from begin: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>) -> JSONParsingError {
        failure(.invalidUTF8, at: begin + firstIllFormedIndex(in: UnsafeBufferPointer(start: begin, count: end - begin)))
    }

    private mutating func parseEscapedString(from begin: UnsafePointer<UInt8>, isASCII: Bool) throws(JSONParsingError) -> Builder.Value {
        let isASCII = try passEscapes(from: begin, isASCII: isASCII)
        guard let value = withEscapedString(from: begin, isASCII: isASCII, { builder, string in builder.string(string) }) else {
            throw illFormed(from: begin, to: cursor - 1)
        }
        return value
    }

    private mutating func parseEscapedKey(
        from begin: UnsafePointer<UInt8>, isASCII: Bool, in container: inout Builder.Container
    ) throws(JSONParsingError) {
        let isASCII = try passEscapes(from: begin, isASCII: isASCII)
        guard withEscapedString(from: begin, isASCII: isASCII, { builder, key in builder.key(key, in: &container) }) else {
            throw illFormed(from: begin, to: cursor - 1)
        }
    }

    /// Passes the string that ends before the cursor to the builder, with its escapes.
    private mutating func withEscapedString<Result>(
        from begin: UnsafePointer<UInt8>, isASCII: Bool, _ body: (inout Builder, ParsedString) -> Result
    ) -> Result {
        let (offset, written) = (begin - start, UnsafeBufferPointer(start: begin, count: cursor - begin - 1))
        func string(_ bytes: UnsafeBufferPointer<UInt8>) -> ParsedString {
            ParsedString(bytes: bytes, offset: offset, length: written.count, isASCII: isASCII, hasEscapes: true)
        }
        guard Builder.resolvesEscapes else { return body(&builder, string(written)) }
        return unescaped.withUnsafeBufferPointer { body(&builder, string($0)) }
    }

    /// Parses the rest of a string from its first backslash, and consumes its closing quote.
    /// - Returns: whether everything but the escapes is ASCII. The parser writes the escaped characters itself, so only the rest needs a check.
    private mutating func passEscapes(from begin: UnsafePointer<UInt8>, isASCII: Bool) throws(JSONParsingError) -> Bool {
        if unescaped.isEmpty, Builder.resolvesEscapes { unescaped.reserveCapacity(128) } else { unescaped.removeAll(keepingCapacity: true) }
        var runStart = begin
        var isASCII = isASCII
        while true {
            if Builder.resolvesEscapes { unescaped.append(contentsOf: UnsafeBufferPointer(start: runStart, count: cursor - runStart)) }
            if cursor.pointee == UInt8(ascii: "\"") { break }
            if Builder.resolvesEscapes { try parseEscape() } else { try skipEscape() }
            runStart = cursor
            let run = try scanPlainBytes()
            isASCII = isASCII && run.isASCII
        }
        cursor += 1
        return isASCII
    }

    /// Parses the escape whose backslash is at the cursor and appends the character it represents.
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

    /// Checks and skips the escape at the cursor.
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

    /// Parses the digits after `\u`, and a second escape if the first is half of a surrogate pair.
    private mutating func parseUnicodeEscape(startingAt backslash: UnsafePointer<UInt8>) throws(JSONParsingError) {
        let unit = try parseHexDigits(startingAt: backslash)
        if let scalar = Unicode.Scalar(unit) {
            append(scalar)
            return
        }
        // JavaScript strings may contain half of a pair, which JSON.stringify writes as an escape.
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
            // The first half is unpaired; the second escape is parsed again on its own.
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

/// What stopped the scan of a string's plain bytes.
struct ScannedRun {
    /// Whether every byte was ASCII, which needs no further check.
    var isASCII: Bool
    /// Whether the closing quote was reached, otherwise a backslash.
    var isComplete: Bool
}

extension JSONParser where Builder: ~Copyable {
    /// Reads the string whose opening quote the cursor stands on, closing quote included.
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

    /// Reads a key, as `parseString` does a string.
    @inline(__always)
    mutating func parseKeyString(in container: inout Builder.Container) throws(JSONParsingError) {
        cursor += 1
        let begin = cursor
        let run = try scanPlainBytes()
        guard run.isComplete else { return try parseEscapedKey(from: begin, isASCII: run.isASCII, in: &container) }
        guard builder.key(plainString(from: begin, isASCII: run.isASCII), in: &container) else { throw illFormed(from: begin, to: cursor) }
        cursor += 1
    }

    /// Moves on to the next quote or backslash, eight bytes at a time.
    @inline(__always)
    mutating func scanPlainBytes() throws(JSONParsingError) -> ScannedRun {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits: UInt64 = 0x8080_8080_8080_8080
        var seen: UInt64 = 0
        while end - cursor >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            // (x - 1) & ~x has its high bit set where x is zero, and above the first such byte perhaps elsewhere; only the
            // lowest one is looked at.
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

    /// The string from `begin` to the cursor.
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

    /// Hands the string that ends before the cursor, escapes and all, to the builder.
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

    /// Goes on after the first run of a string, which ended at a backslash, and consumes its closing quote.
    /// - Returns: whether all that is no escape is ASCII. What escapes mean is written as UTF-8 by this parser; only the rest needs checking.
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
}

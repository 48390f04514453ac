/// What stopped the scan of a string's plain bytes.
struct ScannedRun {
    /// Whether every byte was ASCII, which needs no further check.
    var isASCII: Bool
    /// Whether the closing quote was reached, otherwise a backslash.
    var isComplete: Bool
}

extension JSONParser {
    /// Reads the string whose opening quote was just consumed, closing quote included.
    @inline(__always)
    mutating func parseString() throws(JSONParsingError) -> String {
        let begin = cursor
        let run = try scanPlainBytes()
        guard run.isComplete else { return try parseEscapedString(from: begin, isASCII: run.isASCII) }
        let string = try makeString(from: begin, count: cursor - begin, isASCII: run.isASCII)
        cursor += 1
        return string
    }

    /// Reads a key, as `parseString` does, through the cache of known keys.
    @inline(__always)
    mutating func parseKeyString() throws(JSONParsingError) -> ParsedKey {
        let begin = cursor
        let run = try scanPlainBytes()
        guard run.isComplete else {
            var string = try parseEscapedString(from: begin, isASCII: run.isASCII)
            let hash = string.withUTF8 { bytes in bytes.baseAddress.map { KeyCache.hash($0, count: bytes.count) } ?? 0 }
            return ParsedKey(string: string, hash: hash)
        }
        let count = cursor - begin
        let hash = KeyCache.hash(begin, count: count)
        if let known = knownKeys.find(begin, count: count, hash: hash) {
            cursor += 1
            return ParsedKey(string: known, hash: hash)
        }
        let string = try makeString(from: begin, count: count, isASCII: run.isASCII)
        knownKeys.remember(string, bytes: begin, count: count, hash: hash)
        cursor += 1
        return ParsedKey(string: string, hash: hash)
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

    @inline(__always)
    private func makeString(from begin: UnsafePointer<UInt8>, count: Int, isASCII: Bool) throws(JSONParsingError) -> String {
        let bytes = UnsafeBufferPointer(start: begin, count: count)
        if isASCII { return String(decoding: bytes, as: UTF8.self) }
        if let string = String(validating: bytes, as: UTF8.self) { return string }
        throw failure(.invalidUTF8, at: begin + firstIllFormedIndex(in: bytes))
    }

    /// Goes on after the first run of a string, which ended at a backslash.
    private mutating func parseEscapedString(from begin: UnsafePointer<UInt8>, isASCII: Bool) throws(JSONParsingError) -> String {
        unescaped.removeAll(keepingCapacity: true)
        var runStart = begin
        var isASCII = isASCII
        while true {
            unescaped.append(contentsOf: UnsafeBufferPointer(start: runStart, count: cursor - runStart))
            if cursor.pointee == UInt8(ascii: "\"") { break }
            try parseEscape()
            runStart = cursor
            let run = try scanPlainBytes()
            isASCII = isASCII && run.isASCII
        }
        let end = cursor
        cursor += 1
        // Escapes are written as UTF-8 by this parser; only what was copied needs checking.
        guard !isASCII else { return String(decoding: unescaped, as: UTF8.self) }
        if let string = String(validating: unescaped, as: UTF8.self) { return string }
        throw failure(.invalidUTF8, at: begin + firstIllFormedIndex(in: UnsafeBufferPointer(start: begin, count: end - begin)))
    }
}

extension JSONSerializer {
    mutating func write(_ string: String) {
        let written: Void? = string.utf8.withContiguousStorageIfAvailable { writeQuoted($0) }
        if written == nil {
            var copy = string
            copy.withUTF8 { writeQuoted($0) }
        }
    }

    private mutating func writeQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
        output.append(UInt8(ascii: "\""))
        if let start = bytes.baseAddress {
            let end = start + bytes.count
            var runStart = start
            var cursor = start
            while true {
                cursor = nextEscapable(from: cursor, end: end)
                output.append(contentsOf: UnsafeBufferPointer(start: runStart, count: cursor - runStart))
                guard cursor < end else { break }
                writeEscape(cursor.pointee)
                cursor += 1
                runStart = cursor
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    /// The next byte that must be escaped, or `end`; eight bytes at a time.
    @inline(__always)
    private func nextEscapable(from start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var cursor = start
        while end - cursor >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            // The lowest flag of this well-known trick is exact, see JSONParser.scanPlainBytes.
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let stops = ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- ones &* 0x20) & ~word)
            let flags = stops & (ones &* 0x80)
            if flags != 0 { return cursor + flags.trailingZeroBitCount >> 3 }
            cursor += 8
        }
        while cursor < end {
            let byte = cursor.pointee
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return cursor }
            cursor += 1
        }
        return end
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): output.append("\\\"")
        case UInt8(ascii: "\\"): output.append("\\\\")
        case 0x08: output.append("\\b")
        case 0x09: output.append("\\t")
        case 0x0A: output.append("\\n")
        case 0x0C: output.append("\\f")
        case 0x0D: output.append("\\r")
        default:
            output.append("\\u00")
            output.append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0xF
            output.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }
}

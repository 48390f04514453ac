/// Counts the values of a text before parsing it.
///
/// A value and its separator take at least two bytes, so a text too short to exceed the limit need not be counted.
/// Counting a large text takes a fraction of the time of parsing it. A counter in the parser would slow down every
/// text.
enum JSONValueCount {
    static func defaultLimit(forBytes count: Int) -> Int { max(JSONValue.defaultMaximumValues, count / 4) }

    /// - Throws: ``JSONParsingError/Reason/tooManyValues(limit:)``.
    static func check(_ text: UnsafeBufferPointer<UInt8>, limit: Int) throws(JSONParsingError) {
        guard text.count / 2 >= limit, mayExceed(limit, text), let offset = excess(over: limit, in: text) else {
            return
        }
        throw JSONParsingError(reason: .tooManyValues(limit: limit), offset: offset)
    }

    /// Returns whether a text has more than `limit` commas and opening brackets, including those in strings, in a loop
    /// without branches.
    private static func mayExceed(_ limit: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var most = 1
        for byte in text {
            // `[` and `{` differ only in this bit.
            most &+= byte == UInt8(ascii: ",") ? 1 : 0
            most &+= byte | 0x20 == UInt8(ascii: "{") ? 1 : 0
        }
        return most > limit
    }

    /// Returns the offset at which a text exceeds `limit` values; nil if it does not. Invalid JSON may be rejected here
    /// or later.
    private static func excess(over limit: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        var count = 0
        // Whether a first value may begin: of the text, an array, or an object. Every other value follows a comma.
        var mayBegin = true
        var isInString = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\\") where isInString: index += 1
            case UInt8(ascii: "\"") where isInString: isInString = false
            case _ where isInString: break
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
            case UInt8(ascii: "]"), UInt8(ascii: "}"): mayBegin = false
            case UInt8(ascii: ","): count += 1
            default:
                if mayBegin { count += 1 }
                mayBegin = byte | 0x20 == UInt8(ascii: "{")
                isInString = byte == UInt8(ascii: "\"")
            }
            if count > limit { return index }
            index += 1
        }
        return nil
    }
}

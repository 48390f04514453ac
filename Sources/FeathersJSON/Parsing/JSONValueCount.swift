/// Counts the values of a text before anything is made of them.
///
/// A value and what separates it from the next one take two bytes. So a text with fewer bytes than that need not be counted, and large ones are
/// counted in a fraction of the time that parsing them takes. A counter in the parser would cost every text something.
enum JSONValueCount {
    /// - Throws: ``JSONParsingError/Reason/tooManyValues(limit:)``.
    static func check(_ text: UnsafeBufferPointer<UInt8>, limit: Int) throws(JSONParsingError) {
        guard text.count / 2 >= limit, mayExceed(limit, text), let offset = excess(over: limit, in: text) else { return }
        throw JSONParsingError(reason: .tooManyValues(limit: limit), offset: offset)
    }

    /// Whether a text has more than `limit` commas and opening brackets, those in strings included: a loop without branches.
    private static func mayExceed(_ limit: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var most = 1
        for byte in text {
            // `[` and `{` differ in this bit alone.
            most &+= byte == UInt8(ascii: ",") ? 1 : 0
            most &+= byte | 0x20 == UInt8(ascii: "{") ? 1 : 0
        }
        return most > limit
    }

    /// The offset at which a text has more values than `limit`; nil if it has not. A text that is no JSON may be refused here, or later.
    private static func excess(over limit: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        var count = 0
        // Whether a first value may come: of the text, of an array or of an object. All others come after a comma.
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

import FeathersCore

/// Writes a key's parts as one JSON array. Every cached read has its key written, so the frequent parts take a short way.
struct CacheKeyText {
    private var text = ""

    init() {
        text.reserveCapacity(128)
        text.append("[")
    }

    /// The whole array.
    var finished: String { text + "]" }

    mutating func append(_ string: String) throws(JSONSerializationError) {
        separate()
        try write(string)
    }

    mutating func append(list: [String]) throws(JSONSerializationError) {
        separate()
        text.append("[")
        for string in list {
            separate()
            try write(string)
        }
        text.append("]")
    }

    mutating func append(_ object: JSONObject) throws(JSONSerializationError) {
        separate()
        if object.isEmpty { text.append("{}") } else { try write(.object(object)) }
    }

    mutating func append(_ value: JSONValue) throws(JSONSerializationError) {
        separate()
        switch value {
        case .string(let string): try write(string)
        case .integer(let integer): text.append(String(integer))
        default: try write(value)
        }
    }

    private mutating func separate() {
        if text.utf8.last != UInt8(ascii: "[") { text.append(",") }
    }

    private mutating func write(_ string: String) throws(JSONSerializationError) {
        guard string.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
            return try write(JSONValue.string(string))
        }
        text.append("\"")
        text.append(string)
        text.append("\"")
    }

    private mutating func write(_ value: JSONValue) throws(JSONSerializationError) {
        text.append(String(decoding: try value.serialized(), as: UTF8.self))
    }
}

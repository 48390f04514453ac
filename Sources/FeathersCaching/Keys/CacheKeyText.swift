import FeathersCore

/// Writes a key's parts as one JSON array. Every cached read has its key written, so the frequent parts take a short way.
struct CacheKeyText {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(192)
        bytes.append(UInt8(ascii: "["))
    }

    /// The whole array.
    consuming func finished() -> String {
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func append(_ string: String) throws(JSONSerializationError) {
        separate()
        try write(string)
    }

    mutating func append(list: [String]) throws(JSONSerializationError) {
        separate()
        bytes.append(UInt8(ascii: "["))
        for string in list {
            separate()
            try write(string)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func append(_ object: JSONObject) throws(JSONSerializationError) {
        separate()
        if object.isEmpty {
            bytes.append(UInt8(ascii: "{"))
            bytes.append(UInt8(ascii: "}"))
        } else {
            try JSONValue.object(object).serialize(into: &bytes)
        }
    }

    mutating func append(_ value: JSONValue) throws(JSONSerializationError) {
        separate()
        try value.serialize(into: &bytes)
    }

    private mutating func separate() {
        if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func write(_ string: String) throws(JSONSerializationError) {
        var string = string
        let start = bytes.count
        bytes.append(UInt8(ascii: "\""))
        let isPlain = string.withUTF8 { utf8 in
            bytes.append(contentsOf: utf8)
            return utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        }
        bytes.append(UInt8(ascii: "\""))
        guard !isPlain else { return }
        bytes.removeSubrange(start...)
        try JSONValue.string(string).serialize(into: &bytes)
    }
}

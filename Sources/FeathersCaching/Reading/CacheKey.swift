import FeathersCore
import FeathersSupport

/// The key of a cached entry: everything the response depends on, as text that is the same in every process.
public struct CacheKey: Sendable, Hashable {
    /// The parts that the response depends on, in canonical JSON. Header fields are replaced by digests.
    public let text: String

    /// The group of the entry.
    public let group: String

    package init(text: String, group: String) { (self.text, self.group) = (text, group) }

    /// Compares bytes. Swift treats a composed and a decomposed "é" as equal; a server may not.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.text.isExactly(right.text) && left.group.isExactly(right.group)
    }
}

extension CacheKey {
    /// Creates the key of a read; nil if its query contains values that JSON cannot represent.
    /// - Parameters:
    ///   - app: The app that makes the read; it knows which header fields are harmless.
    ///   - partitions: The texts that identify the user.
    init?(of request: ServiceRequest, group: String, in app: FeathersApp? = nil, partitions: [String]) {
        let params = request.params
        var text = CacheKeyText()
        do throws(JSONSerializationError) {
            try text.append(list: partitions)
            try text.append(request.method.rawValue)
            try text.append(request.path)
            if let id = request.id { try text.append(id.json) } else { try text.append(JSONValue.null) }
            try text.append(
                params.route.isEmpty
                    ? JSONObject() : JSONObject(sorted: params.route.map { ($0.key, .string($0.value)) }))
            try text.append(params.query.json.canonical)
            let fields = request.distinguishingFields(in: app)
            try text.append(
                fields.isEmpty ? JSONObject() : JSONObject(sorted: fields.map { ($0.key, .string($0.value)) }))
        } catch {
            return nil
        }
        self.init(text: text.finished(), group: group)
    }
}

extension JSONObject {
    /// Creates an object with its keys in byte order. For a repeated key, the last value is used.
    fileprivate init(sorted entries: [(key: String, value: JSONValue)]) {
        self.init(minimumCapacity: entries.count)
        for (key, value) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            self[key] = value
        }
    }

    /// The same query with its keys in byte order at every depth, except in `$sort`, whose order is significant.
    fileprivate var canonical: JSONObject {
        isEmpty ? self : JSONObject(sorted: map { key, value in (key, key == "$sort" ? value : value.canonical) })
    }
}

extension JSONValue {
    fileprivate var canonical: JSONValue {
        switch self {
        case .object(let object): .object(object.canonical)
        case .array(let array): .array(array.map(\.canonical))
        default: self
        }
    }
}

/// Writes the parts of a key as one JSON array. Every cached read writes a key, so the most common parts have a fast
/// path.
struct CacheKeyText {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(192)
        bytes.append(UInt8(ascii: "["))
    }

    /// Returns the complete array.
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

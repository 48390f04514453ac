public import FeathersCore

/// A to-many relationship of a model: what it leads to, and those targets that came along.
public struct ToMany<Value: JSONAPIRelatable>: Sendable {
    /// The identifiers of all targets, in their order; nil where the server did not say, and then nothing is written.
    public var identifiers: [JSONAPIIdentifier]?
    /// The targets that came along, in their order.
    public private(set) var values: [Value]
    /// `self` for the relationship, `related` for its targets.
    public var links: JSONAPILinks
    /// What the server says of the relationship.
    public var meta: JSONObject?

    /// A relationship of which nothing is said.
    public init() {
        self.init(identifiers: nil, values: [])
    }

    /// A relationship to nothing.
    public static var empty: ToMany { ToMany(identifiers: []) }

    /// A relationship to the resources with these identifiers; an empty array empties it.
    public init(identifiers: [JSONAPIIdentifier]) {
        self.init(identifiers: identifiers, values: [])
    }

    /// A relationship to resources, each of which must have an id or a local id to be written.
    public init(_ values: [Value]) {
        let identifiers = values.compactMap(\.jsonAPIIdentifier)
        self.init(identifiers: identifiers.count == values.count ? identifiers : nil, values: values)
    }

    init(identifiers: [JSONAPIIdentifier]?, values: [Value], links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil) {
        self.identifiers = identifiers
        self.values = values
        self.links = links
        self.meta = meta
    }

    /// Whether nothing is missing: every target came along.
    public var isLoaded: Bool { identifiers.map { $0.count == values.count } ?? false }
}

extension ToMany where Value: JSONAPIModel {
    /// A relationship to the resources with these ids.
    public init(ids: [String]) {
        self.init(identifiers: ids.map { JSONAPIIdentifier(type: Value.type, id: $0) })
    }
}

extension ToMany: Equatable where Value: Equatable {}
extension ToMany: Hashable where Value: Hashable {}

extension ToMany: Codable {
    /// Reads a relationship of a document, or what stands in a plain record: an array of identifiers, or of targets with types and ids.
    public init(from decoder: any Decoder) throws {
        if let node = decoder as? RelationshipNode {
            try self.init(node)
            return
        }
        var container = try decoder.unkeyedContainer()
        var identifiers: [JSONAPIIdentifier] = []
        var values: [Value] = []
        while !container.isAtEnd {
            let element = try container.superDecoder()
            identifiers.append(try JSONAPIIdentifier(from: element))
            if let value = try? Value(from: element) { values.append(value) }
        }
        self.init(identifiers: identifiers, values: values)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(identifiers ?? [])
    }
}

extension KeyedDecodingContainer {
    /// A missing relationship is one of which nothing is said.
    public func decode<Value>(_ type: ToMany<Value>.Type, forKey key: Key) throws -> ToMany<Value> {
        guard contains(key) else { return ToMany() }
        return try ToMany(from: superDecoder(forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// A relationship of which nothing is said is not written.
    public mutating func encode<Value>(_ relationship: ToMany<Value>, forKey key: Key) throws {
        guard relationship.identifiers != nil || !relationship.values.isEmpty else { return }
        try encodeAsItIs(relationship, forKey: key)
    }
}

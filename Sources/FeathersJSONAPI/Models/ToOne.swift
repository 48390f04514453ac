public import FeathersCore

/// A to-one relationship of a model: what it leads to, and the target itself where that came along.
public struct ToOne<Value: JSONAPIRelatable>: Sendable {
    /// What the relationship leads to: ``JSONAPILinkage/one(_:)`` or ``JSONAPILinkage/null``; nil where the server did not say, and then
    /// nothing is written.
    public var linkage: JSONAPILinkage?
    /// The target, in an array for the sake of models that lead to each other.
    private var loaded: [Value]
    /// `self` for the relationship, `related` for its target.
    public var links: JSONAPILinks
    /// What the server says of the relationship.
    public var meta: JSONObject?

    /// A relationship of which nothing is said.
    public init() {
        self.init(linkage: nil, value: nil)
    }

    /// A relationship to nothing.
    public static var empty: ToOne { ToOne(identifier: nil) }

    /// A relationship to the resource with an identifier; nil empties it.
    public init(identifier: JSONAPIIdentifier?) {
        self.init(linkage: identifier.map(JSONAPILinkage.one) ?? .null, value: nil)
    }

    /// A relationship to a resource, which must have an id or a local id to be written.
    public init(_ value: Value) {
        self.init(linkage: value.jsonAPIIdentifier.map(JSONAPILinkage.one), value: value)
    }

    init(linkage: JSONAPILinkage?, value: Value?, links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil) {
        self.linkage = linkage
        loaded = value.map { [$0] } ?? []
        self.links = links
        self.meta = meta
    }

    /// The identifier of the target; nil where there is none, and where the server did not say.
    public var identifier: JSONAPIIdentifier? { linkage?.identifiers.first }

    /// The target where it came along.
    public var value: Value? { loaded.first }

    /// Whether nothing is missing: the target came along, or there is none.
    public var isLoaded: Bool { linkage == .null || !loaded.isEmpty }
}

extension ToOne where Value: JSONAPIModel {
    /// A relationship to the resource with an id.
    public init(id: String) {
        self.init(identifier: JSONAPIIdentifier(type: Value.type, id: id))
    }
}

extension ToOne: Equatable where Value: Equatable {}
extension ToOne: Hashable where Value: Hashable {}

extension ToOne: Codable {
    /// Reads a relationship of a document, or what stands in a plain record: null, an identifier, or the target with its type and id.
    public init(from decoder: any Decoder) throws {
        if let node = decoder as? RelationshipNode {
            try self.init(node)
            return
        }
        let container = try decoder.singleValueContainer()
        guard !container.decodeNil() else {
            self.init(identifier: nil)
            return
        }
        let identifier = try JSONAPIIdentifier(from: decoder)
        self.init(linkage: .one(identifier), value: try? Value(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let identifier { try container.encode(identifier) } else { try container.encodeNil() }
    }
}

extension KeyedDecodingContainer {
    /// A missing relationship is one of which nothing is said.
    public func decode<Value>(_ type: ToOne<Value>.Type, forKey key: Key) throws -> ToOne<Value> {
        guard contains(key) else { return ToOne() }
        return try ToOne(from: superDecoder(forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// A relationship of which nothing is said is not written.
    public mutating func encode<Value>(_ relationship: ToOne<Value>, forKey key: Key) throws {
        guard relationship.linkage != nil || relationship.value != nil else { return }
        try encodeAsItIs(relationship, forKey: key)
    }
}

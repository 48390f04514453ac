public import FeathersCore
import FeathersJSON

/// A to-one relationship of a model: its linkage, and its target if included.
public struct ToOne<Value: JSONAPIRelatable>: Sendable {
    /// The linkage: ``JSONAPILinkage/one(_:)`` or ``JSONAPILinkage/null``; nil if the server sent none. A nil linkage
    /// is not written.
    public var linkage: JSONAPILinkage?
    /// The target, in an array because models may refer to each other.
    private var loaded: [Value]
    /// The relationship's links: `self` for the relationship, `related` for its target.
    public var links: JSONAPILinks
    /// The metadata of the relationship.
    public var meta: JSONObject?

    /// Creates a relationship without linkage.
    public init() { self.init(linkage: nil, value: nil) }

    /// An empty relationship.
    public static var empty: ToOne { ToOne(identifier: nil) }

    /// Creates a relationship to the resource with an identifier; nil creates an empty relationship.
    public init(identifier: JSONAPIIdentifier?) {
        self.init(linkage: identifier.map(JSONAPILinkage.one) ?? .null, value: nil)
    }

    /// Creates a relationship to a resource. Writing it requires an id or a local id.
    public init(_ value: Value) { self.init(linkage: value.jsonAPIIdentifier.map(JSONAPILinkage.one), value: value) }

    init(linkage: JSONAPILinkage?, value: Value?, links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil) {
        self.linkage = linkage
        loaded = value.map { [$0] } ?? []
        self.links = links
        self.meta = meta
    }

    /// The identifier of the target; nil if the relationship is empty or the server sent no linkage.
    public var identifier: JSONAPIIdentifier? { linkage?.identifiers.first }
    /// The target, if it was included.
    public var value: Value? { loaded.first }
    /// Whether the target was included or the relationship is empty.
    public var isLoaded: Bool { linkage == .null || !loaded.isEmpty }
}

extension ToOne where Value: JSONAPIModel {
    /// Creates a relationship to the resource with an id.
    public init(id: String) { self.init(identifier: JSONAPIIdentifier(type: Value.type, id: id)) }
}

extension ToOne: Equatable where Value: Equatable {}
extension ToOne: Hashable where Value: Hashable {}

extension ToOne: Codable {
    /// Reads a relationship from a document, or from a plain record: null, an identifier, or the target with its type
    /// and id.
    public init(from decoder: any Decoder) throws {
        if let node = decoder as? RelationshipNode {
            try self.init(node)
            return
        }
        guard try !decoder.singleValueContainer().decodeNil() else {
            self.init(identifier: nil)
            return
        }
        self.init(linkage: .one(try JSONAPIIdentifier(from: decoder)), value: try? Value(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let identifier { try container.encode(identifier) } else { try container.encodeNil() }
    }
}

/// A to-many relationship of a model: its identifiers, and the targets that were included.
public struct ToMany<Value: JSONAPIRelatable>: Sendable {
    /// The identifiers of all targets in document order; nil if the server sent none. A nil value is not written.
    public var identifiers: [JSONAPIIdentifier]?
    /// The included targets in document order.
    public private(set) var values: [Value]
    /// The relationship's links: `self` for the relationship, `related` for its targets.
    public var links: JSONAPILinks
    /// The metadata of the relationship.
    public var meta: JSONObject?

    /// Creates a relationship without linkage.
    public init() { self.init(identifiers: nil, values: []) }

    /// An empty relationship.
    public static var empty: ToMany { ToMany(identifiers: []) }

    /// Creates a relationship to the resources with these identifiers; an empty array creates an empty relationship.
    public init(identifiers: [JSONAPIIdentifier]) { self.init(identifiers: identifiers, values: []) }

    /// Creates a relationship to resources. Writing it requires an id or a local id for each.
    public init(_ values: [Value]) {
        let identifiers = values.compactMap(\.jsonAPIIdentifier)
        self.init(identifiers: identifiers.count == values.count ? identifiers : nil, values: values)
    }

    init(
        identifiers: [JSONAPIIdentifier]?, values: [Value], links: JSONAPILinks = JSONAPILinks(),
        meta: JSONObject? = nil
    ) {
        self.identifiers = identifiers
        self.values = values
        self.links = links
        self.meta = meta
    }

    /// Whether every target was included.
    public var isLoaded: Bool { identifiers.map { $0.count == values.count } ?? false }
}

extension ToMany where Value: JSONAPIModel {
    /// Creates a relationship to the resources with these ids.
    public init(ids: [String]) { self.init(identifiers: ids.map { JSONAPIIdentifier(type: Value.type, id: $0) }) }
}

extension ToMany: Equatable where Value: Equatable {}
extension ToMany: Hashable where Value: Hashable {}

extension ToMany: Codable {
    /// Reads a relationship from a document, or from a plain record: an array of identifiers, or of targets with types
    /// and ids.
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

// Synthesized conformances call these methods instead of the containers' own, because these are more specialized.

extension KeyedDecodingContainer {
    /// Decodes a relationship. A missing relationship has no linkage.
    public func decode<Value>(_ type: ToOne<Value>.Type, forKey key: Key) throws -> ToOne<Value> {
        guard contains(key) else { return ToOne() }
        return try ToOne(from: superDecoder(forKey: key))
    }

    /// Decodes a relationship. A missing relationship has no linkage.
    public func decode<Value>(_ type: ToMany<Value>.Type, forKey key: Key) throws -> ToMany<Value> {
        guard contains(key) else { return ToMany() }
        return try ToMany(from: superDecoder(forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// Encodes a relationship unless it has no linkage.
    public mutating func encode<Value>(_ relationship: ToOne<Value>, forKey key: Key) throws {
        guard relationship.linkage != nil || relationship.value != nil else { return }
        try encodeUnspecialized(relationship, forKey: key)
    }

    /// Encodes a relationship unless it has no linkage.
    public mutating func encode<Value>(_ relationship: ToMany<Value>, forKey key: Key) throws {
        guard relationship.identifiers != nil || !relationship.values.isEmpty else { return }
        try encodeUnspecialized(relationship, forKey: key)
    }

    /// Calls the container's own method, because the overloads for relationships are not visible here.
    private mutating func encodeUnspecialized<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
}

// MARK: Documents

/// A type that is decoded from a whole relationship. Other types are decoded from its target.
protocol RelationshipReading {
    init(_ node: RelationshipNode) throws
}

extension ToOne: RelationshipReading {
    init(_ node: RelationshipNode) throws {
        var linkage: JSONAPILinkage?
        var value: Value?
        if let data = node.data {
            linkage = data.array == nil ? JSONAPILinkage(reading: data) : nil
            guard let linkage else { throw node.mismatch(Self.self, "The relationship does not have a single target") }
            let models = node.models(of: Value.self)
            if linkage != .null, let index = try node.related(models, data, orIdentifier: false) {
                value = models.values[index]
            }
        }
        self.init(linkage: linkage, value: value, links: node.links, meta: node.meta)
    }
}

extension ToMany: RelationshipReading {
    init(_ node: RelationshipNode) throws {
        self.init(identifiers: nil, values: [], links: node.links, meta: node.meta)
        guard let elements = try node.elements(for: Self.self) else { return }
        var identifiers: [JSONAPIIdentifier] = []
        let models = node.models(of: Value.self)
        for element in elements {
            guard let identifier = JSONAPIIdentifier(reading: element) else { continue }
            identifiers.append(identifier)
            if let index = try node.related(models, element, orIdentifier: false) {
                values.append(models.values[index])
            }
        }
        self.identifiers = identifiers
    }
}

extension Array: RelationshipReading where Element: Decodable {
    /// Creates an array of the targets that were included, or that can be decoded from an identifier alone.
    init(_ node: RelationshipNode) throws {
        self = []
        guard let elements = try node.elements(for: Self.self) else { return }
        reserveCapacity(elements.count)
        let models = node.models(of: Element.self)
        for element in elements {
            if let index = try node.related(models, element) { append(models.values[index]) }
        }
    }
}

/// A type that is written as a relationship. Models are recognized by ``JSONAPIRelatable``.
protocol RelationshipWriting {
    /// Returns the relationship to write.
    /// - Throws: ``JSONAPIError`` without a location if a target has neither an id nor a local id.
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship
}

extension ToOne: RelationshipWriting {
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship {
        if let linkage { return JSONAPIRelationship(linkage, meta: meta) }
        guard let value else { return JSONAPIRelationship(.null, meta: meta) }
        return JSONAPIRelationship(.one(try value.requiredIdentifier()), meta: meta)
    }
}

extension ToMany: RelationshipWriting {
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship {
        if let identifiers { return JSONAPIRelationship(.many(identifiers), meta: meta) }
        return JSONAPIRelationship(try values.relationship().linkage, meta: meta)
    }
}

extension Array: RelationshipWriting where Element: JSONAPIRelatable {
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship {
        var identifiers: [JSONAPIIdentifier] = []
        for element in self { identifiers.append(try element.requiredIdentifier()) }
        return JSONAPIRelationship(.many(identifiers))
    }
}

/// A value that empties a relationship of any kind.
struct EmptyRelationship: RelationshipWriting, Encodable {
    func relationship() -> JSONAPIRelationship { JSONAPIRelationship(.null) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension JSONAPIRelatable {
    func requiredIdentifier() throws(JSONAPIError) -> JSONAPIIdentifier {
        guard let identifier = jsonAPIIdentifier else {
            throw JSONAPIError(.root, "The target of a relationship has no id; save the target first, or set its 'lid'")
        }
        return identifier
    }
}

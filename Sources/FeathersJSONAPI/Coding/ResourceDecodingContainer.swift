import FeathersCore
import FeathersJSON
import Foundation

/// Finds each property of a model among the resource's attributes, relationships, and own members.
struct ResourceDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The only stored property, so that each copy the standard library makes costs one reference.
    let node: ResourceNode

    private var attributes: JSONKeyedDecodingContainer<WireKey> { node.attributes }
    private var resource: ResourceSource { node.resource }
    private var pool: ResourcePool { node.pool }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        let names = ["type"] + (resource.id == nil ? [] : ["id"]) + (resource.lid == nil ? [] : ["lid"])
        let fields = resource.attributes.keys + (resource.relationships?.keys ?? [])
        return names.compactMap { Key(stringValue: $0) }
            + fields.compactMap { Key(stringValue: pool.codec.keys.propertyName(of: $0)) }
    }

    /// Returns the text of a member of the resource itself; nil if the key names a field.
    private func member(_ key: Key) -> String?? {
        switch key.stringValue {
        case "id": .some(resource.id)
        case "type": .some(resource.type)
        case "lid": .some(resource.lid)
        default: nil
        }
    }

    private func wireKey(_ key: Key) -> WireKey { pool.wireKey(key.stringValue) }

    func contains(_ key: Key) -> Bool {
        if let member = member(key) { return member != nil }
        let name = wireKey(key)
        return resource.relationships?[name.stringValue] != nil || attributes.contains(name)
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if let member = member(key) { return member == nil }
        let name = wireKey(key)
        if let relationship = relationship(name) { return relationship.data?.isNull ?? false }
        return try attributes.decodeNil(forKey: name)
    }

    private func relationship(_ key: WireKey) -> RelationshipNode? {
        guard let source = resource.relationships?[key.stringValue] else { return nil }
        return RelationshipNode(source, key: key, of: node)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if type == JSONAPILinks.self, let links = resource.links as? T { return links }
        if type == JSONAPIMeta.self, let meta = JSONAPIMeta(resource.meta ?? [:]) as? T { return meta }
        if let member = member(key) { return try decodeMember(type, required(member, key.stringValue), key) }
        let name = wireKey(key)
        if let relationship = relationship(name) {
            let models = pool.models(of: type)
            if let reader = models.reader, let value = try reader.init(relationship) as? T { return value }
            guard let index = try target(of: relationship, models) else {
                throw DecodingError.valueNotFound(
                    type, DecodingError.Context(codingPath: [name], debugDescription: "The target is not included."))
            }
            return models.values[index]
        }
        if type == URL.self, let url = try url(name) as? T { return url }
        return try attributes.decode(type, forKey: name)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if type == JSONAPIMeta.self, resource.meta == nil { return nil }
        if type == JSONAPILinks.self, resource.links.isEmpty { return nil }
        if type == JSONAPILinks.self || type == JSONAPIMeta.self { return try decode(type, forKey: key) }
        if let member = member(key) { return try member.map { try decodeMember(type, $0, key) } }
        let name = wireKey(key)
        if let relationship = relationship(name) {
            guard relationship.data != nil else { return nil }
            let models = pool.models(of: type)
            if let reader = models.reader { return try reader.init(relationship) as? T }
            return try target(of: relationship, models).map { models.values[$0] }
        }
        if type == URL.self {
            return try attributes.contains(name) && !attributes.decodeNil(forKey: name) ? url(name) as? T : nil
        }
        return try attributes.decodeIfPresent(type, forKey: name)
    }

    /// Decodes the target of a to-one relationship, and returns its index; nil if it is empty or its target is not
    /// included.
    private func target<T: Decodable>(of relationship: RelationshipNode, _ models: DecodedModels<T>) throws -> Int? {
        guard let data = relationship.data, !data.isNull else { return nil }
        guard data.array == nil else { throw relationship.mismatch(T.self, "The relationship has several targets") }
        return try relationship.related(models, data)
    }

    private func url(_ key: WireKey) throws -> URL {
        let text = try attributes.decode(String.self, forKey: key)
        guard let url = URL(string: text, relativeTo: pool.codec.baseURL) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [key], debugDescription: "The string is not a valid URL."))
        }
        return url.absoluteURL
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { node }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        let name = wireKey(key)
        if let relationship = relationship(name) { return relationship }
        return try attributes.superDecoder(forKey: name)
    }
}

// MARK: Members of the resource itself

extension ResourceDecodingContainer {
    private func required(_ member: String?, _ name: String) throws -> String {
        if let member { return member }
        throw DecodingError.keyNotFound(
            WireKey(name), DecodingError.Context(codingPath: [], debugDescription: "The resource lacks it."))
    }

    /// Decodes from the member's text, or from the number in it if the type requires a number.
    private func decodeMember<T: Decodable>(_ type: T.Type, _ text: String, _ key: Key) throws -> T {
        let decoder = pool.codec.coding
        if let value = try? decoder.decode(type, from: .string(text)) { return value }
        if let integer = Int64(text), let value = try? decoder.decode(type, from: .integer(integer)) { return value }
        throw memberMismatch(type, key.stringValue)
    }

    private func memberMismatch(_ type: any Any.Type, _ name: String) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(codingPath: [WireKey(name)], debugDescription: "'\(name)' is not a valid \(type)."))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if let member = member(key) { return try required(member, key.stringValue) }
        return try attributes.decode(type, forKey: wireKey(key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        if let member = member(key) { return member }
        return try attributes.decodeIfPresent(type, forKey: wireKey(key))
    }
}

// MARK: The other primitive types, which differ only in their types

extension ResourceDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try attributes.decode(type, forKey: wireKey(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try attributes.decode(type, forKey: wireKey(key))
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try attributes.decode(type, forKey: wireKey(key))
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try attributes.decodeIfPresent(type, forKey: wireKey(key))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try attributes.decodeIfPresent(type, forKey: wireKey(key))
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard key.stringValue != "id" else { return node.resource.id == nil ? nil : try decode(type, forKey: key) }
        return try attributes.decodeIfPresent(type, forKey: wireKey(key))
    }

    /// Returns an integer from an attribute, or the number in the resource's id.
    private func integer<T: FixedWidthInteger>(_ key: Key, _ attribute: (WireKey) throws -> T) throws -> T {
        guard key.stringValue == "id" else { return try attribute(wireKey(key)) }
        guard let integer = T(try required(node.resource.id, "id")) else { throw memberMismatch(T.self, "id") }
        return integer
    }
}

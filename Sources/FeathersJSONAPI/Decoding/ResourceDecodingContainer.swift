import FeathersCore
import Foundation

/// Finds each property of a model where it stands: attributes, relationships, the resource's own members.
struct ResourceDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: ResourceNode
    let attributes: KeyedDecodingContainer<WireKey>

    private var resource: JSONAPIResource { node.resource }
    private var pool: ResourcePool { node.pool }

    var codingPath: [any CodingKey] { [] }

    /// Those of the model's keys that the resource has.
    var allKeys: [Key] {
        let names = ["type"] + (resource.id == nil ? [] : ["id"]) + (resource.lid == nil ? [] : ["lid"])
        let fields = resource.attributes.keys + resource.relationships.names
        return names.compactMap { Key(stringValue: $0) } + fields.compactMap { Key(stringValue: pool.codec.keys.propertyName(of: $0)) }
    }

    /// The text of a member of the resource itself; nil for a key that names a field.
    private func member(_ key: Key) -> String?? {
        switch key.stringValue {
        case "id": .some(resource.id)
        case "type": .some(resource.type)
        case "lid": .some(resource.lid)
        default: nil
        }
    }

    func contains(_ key: Key) -> Bool {
        if let member = member(key) { return member != nil }
        let name = pool.wireKey(key.stringValue)
        return resource.relationships.json[name.stringValue] != nil || attributes.contains(name)
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if let member = member(key) { return member == nil }
        let name = pool.wireKey(key.stringValue)
        if let relationship = relationship(name) { return relationship.data?.isNull ?? false }
        return try attributes.decodeNil(forKey: name)
    }

    private func relationship(_ key: WireKey) -> RelationshipNode? {
        guard !resource.relationships.isEmpty, let json = resource.relationships.json[key.stringValue] else { return nil }
        return RelationshipNode(json, key: key, of: node)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if type == JSONAPILinks.self, let links = resource.links as? T { return links }
        if type == JSONAPIMeta.self, let meta = JSONAPIMeta(resource.meta ?? [:]) as? T { return meta }
        if let member = member(key) { return try decodeMember(type, required(member, key), key) }
        let name = pool.wireKey(key.stringValue)
        if let relationship = relationship(name) {
            guard let value = try related(type, relationship) else {
                throw DecodingError.valueNotFound(
                    type, DecodingError.Context(codingPath: [name], debugDescription: "The target is not included."))
            }
            return value
        }
        if type == URL.self, let url = try url(name) as? T { return url }
        return try attributes.decode(type, forKey: name)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if type == JSONAPIMeta.self, resource.meta == nil { return nil }
        if type == JSONAPILinks.self, resource.links.isEmpty { return nil }
        if type == JSONAPILinks.self || type == JSONAPIMeta.self { return try decode(type, forKey: key) }
        if let member = member(key) { return try member.map { try decodeMember(type, $0, key) } }
        let name = pool.wireKey(key.stringValue)
        if let relationship = relationship(name) { return relationship.data == nil ? nil : try related(type, relationship) }
        if type == URL.self { return try attributes.contains(name) && !attributes.decodeNil(forKey: name) ? url(name) as? T : nil }
        return try attributes.decodeIfPresent(type, forKey: name)
    }

    /// What a relationship is decoded into; nil where it leads to nothing, or to what did not come along.
    private func related<T: Decodable>(_ type: T.Type, _ relationship: RelationshipNode) throws -> T? {
        if let whole = type as? any RelationshipReading.Type { return try whole.init(relationship) as? T }
        guard let data = relationship.data, !data.isNull else { return nil }
        guard data.array == nil else { throw relationship.mismatch(type, "The relationship leads to several resources") }
        return try relationship.related(type, data)
    }

    private func url(_ key: WireKey) throws -> URL {
        let text = try attributes.decode(String.self, forKey: key)
        guard let url = URL(string: text, relativeTo: pool.codec.baseURL) else {
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [key], debugDescription: "The text is no URL."))
        }
        return url.absoluteURL
    }
}

/// Members of the resource itself, which are texts whatever a model takes them for.
extension ResourceDecodingContainer {
    private func required(_ member: String?, _ key: Key) throws -> String {
        guard let member else {
            throw DecodingError.keyNotFound(
                WireKey(key.stringValue), DecodingError.Context(codingPath: [], debugDescription: "The resource has none."))
        }
        return member
    }

    /// Decodes from the text, and where that is not what the type wants, from the number in it.
    private func decodeMember<T: Decodable>(_ type: T.Type, _ text: String, _ key: Key) throws -> T {
        let decoder = pool.codec.coding
        if let value = try? decoder.decode(type, from: .string(text)) { return value }
        if let integer = Int64(text), let value = try? decoder.decode(type, from: .integer(integer)) { return value }
        throw DecodingError.typeMismatch(
            type, DecodingError.Context(codingPath: [WireKey(key.stringValue)], debugDescription: "'\(key.stringValue)' is no \(type)."))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if let member = member(key) { return try required(member, key) }
        return try attributes.decode(type, forKey: pool.wireKey(key.stringValue))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        if let member = member(key) { return member }
        return try attributes.decodeIfPresent(type, forKey: pool.wireKey(key.stringValue))
    }
}

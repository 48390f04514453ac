import FeathersCore

/// The decoder that a model sees: one resource, with access to the targets of its relationships.
final class ResourceNode: Decoder {
    let resource: JSONAPIResource
    let pool: ResourcePool
    private var base: (any Decoder)?

    init(_ resource: JSONAPIResource, pool: ResourcePool) {
        self.resource = resource
        self.pool = pool
    }

    // Coding paths start at the resource's attributes. The final error adds the location of the resource.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { (try? attributes().userInfo) ?? [:] }

    private func attributes() throws -> any Decoder {
        if let base { return base }
        let decoder = try pool.codec.coding.decode(CapturedDecoder.self, from: .object(resource.attributes)).decoder
        base = decoder
        return decoder
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ResourceDecodingContainer<Key>(node: self, attributes: try attributes().container(keyedBy: WireKey.self)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try attributes().unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try attributes().singleValueContainer() }
}

/// Captures the decoder that the JSON decoder passes to a type.
private struct CapturedDecoder: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) { self.decoder = decoder }
}

final class RelationshipNode: Decoder {
    private let relationship: JSONObject
    private let key: WireKey
    private let owner: ResourceNode

    init(_ json: JSONValue, key: WireKey, of owner: ResourceNode) {
        relationship = json.object ?? [:]
        self.key = key
        self.owner = owner
    }

    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { owner.userInfo }
    private var pool: ResourcePool { owner.pool }

    var data: JSONValue? { relationship["data"] }
    var links: JSONAPILinks { JSONAPILinks(reading: relationship["links"]) }
    var meta: JSONObject? { relationship["meta"]?.object }

    func mismatch(_ type: any Any.Type, _ description: String) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: description))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let data, let identifier = JSONAPIIdentifier(reading: data) else {
            throw mismatch(type, "The relationship has no target")
        }
        let position = ResourceKey(reading: data).flatMap(pool.position)
        return try ResourceNode(position.map { pool.resources[$0] } ?? JSONAPIResource(identifier), pool: pool).container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw mismatch([Any].self, "A relationship can be decoded only into an array of models, 'ToMany', or 'ToOne'")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw mismatch(Any.self, "A relationship can be decoded only into a model, an array of models, 'ToMany', or 'ToOne'")
    }

    /// Returns the identifiers of a to-many relationship; nil without linkage. Some servers write null for an empty relationship.
    func elements(for type: any Any.Type) throws -> [JSONValue]? {
        switch data {
        case nil: return nil
        case .array(let elements)?: return elements
        case .null?: return []
        default: throw mismatch(type, "The relationship has a single target")
        }
    }

    /// Decodes the target of an identifier; nil if the target is not included or a cycle is cut.
    /// If `orIdentifier` is true, a missing target is decoded from its identifier, provided that the type needs no more than that.
    func related<Model: Decodable>(_ type: Model.Type, _ identifier: JSONValue, orIdentifier: Bool = true) throws -> Model? {
        guard let key = ResourceKey(reading: identifier) else { return nil }
        if let expected = pool.expectedType(type), expected != key.typeName { return nil }
        do {
            if let position = pool.position(of: key), let model = try pool.decodeRelated(type, at: position) { return model }
        } catch is JSONAPIUnknownType {
            return nil
        }
        return orIdentifier || type == JSONAPIIdentifier.self ? pool.decodeIdentifier(type, identifier) : nil
    }
}

import FeathersCore
import FeathersJSON

/// The decoder that a model sees: one resource, with access to the targets of its relationships.
final class ResourceNode: Decoder {
    let resource: ResourceSource
    let pool: ResourcePool
    let attributes: JSONKeyedDecodingContainer<WireKey>

    init(_ resource: ResourceSource, pool: ResourcePool) throws {
        self.resource = resource
        self.pool = pool
        attributes = try pool.attributes.members(of: .object(resource.attributes), keyedBy: WireKey.self)
    }

    // Coding paths start at the resource's attributes. The final error adds the location of the resource.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { pool.codec.coding.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ResourceDecodingContainer<Key>(node: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try decoder.singleValueContainer() }

    private var decoder: any Decoder { pool.attributes.decoder(of: .object(resource.attributes)) }
}

final class RelationshipNode: Decoder {
    private let relationship: JSONObject?
    private let key: WireKey
    private let owner: ResourceNode

    init(_ json: JSONValue, key: WireKey, of owner: ResourceNode) {
        relationship = json.object
        self.key = key
        self.owner = owner
    }

    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { owner.userInfo }
    private var pool: ResourcePool { owner.pool }

    var data: JSONValue? { relationship?["data"] }
    var links: JSONAPILinks { JSONAPILinks(reading: relationship?["links"]) }
    var meta: JSONObject? { relationship?["meta"]?.object }

    func mismatch(_ type: any Any.Type, _ description: String) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: description))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let data, let identifier = JSONAPIIdentifier(reading: data) else {
            throw mismatch(type, "The relationship has no target")
        }
        let position = pool.position(of: data)
        return try ResourceNode(
            position.map { pool.resources[$0] } ?? ResourceSource(JSONAPIResource(identifier)), pool: pool
        ).container(
            keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw mismatch([Any].self, "A relationship can be decoded only into an array of models, 'ToMany', or 'ToOne'")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw mismatch(
            Any.self, "A relationship can be decoded only into a model, an array of models, 'ToMany', or 'ToOne'")
    }

    /// Returns the identifiers of a to-many relationship; nil without linkage. Some servers write null for an empty
    /// relationship.
    func elements(for type: any Any.Type) throws -> [JSONValue]? {
        guard let data else { return nil }
        if data.isNull { return [] }
        guard let elements = data.array else { throw mismatch(type, "The relationship has a single target") }
        return elements
    }

    func models<Model: Decodable>(of type: Model.Type) -> DecodedModels<Model> { pool.models(of: type) }

    /// Decodes the target of an identifier; nil if the target is not included or a cycle is cut.
    /// If `orIdentifier` is true, a missing target is decoded from its identifier, provided that the type needs no more
    /// than that.
    /// - Returns: The index of the model, as ``DecodedModels`` describes it.
    func related<Model: Decodable>(
        _ models: DecodedModels<Model>, _ identifier: JSONValue, orIdentifier: Bool = true
    ) throws -> Int? {
        if let expected = models.resourceType, identifier["type"]?.string?.isExactly(expected) != true { return nil }
        do {
            if let position = pool.position(of: identifier), let index = try pool.decodeRelated(models, at: position) {
                return index
            }
        } catch is JSONAPIUnknownType {
            return nil
        }
        return orIdentifier || Model.self == JSONAPIIdentifier.self ? pool.decodeIdentifier(models, identifier) : nil
    }
}

import FeathersCore

/// One relationship of a resource while a model is decoded.
final class RelationshipNode: Decoder {
    let relationship: JSONObject
    let key: WireKey
    private let owner: ResourceNode

    init(_ json: JSONValue, key: WireKey, of owner: ResourceNode) {
        relationship = json.object ?? [:]
        self.key = key
        self.owner = owner
    }

    var codingPath: [any CodingKey] { [key] }
    var userInfo: [CodingUserInfoKey: Any] { owner.userInfo }
    var pool: ResourcePool { owner.pool }

    /// The linkage as it stands in the document; nil where there is none.
    var data: JSONValue? { relationship["data"] }

    func mismatch(_ type: any Any.Type, _ description: String) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: description))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let data, let identifier = JSONAPIIdentifier(reading: data) else {
            throw mismatch(type, "The relationship leads to no resource")
        }
        let position = ResourceKey(reading: data).flatMap(pool.position)
        return try ResourceNode(position.map { pool.resources[$0] } ?? JSONAPIResource(identifier), pool: pool).container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw mismatch([Any].self, "Arrays of models, 'ToMany' and 'ToOne' are what a relationship is decoded into")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw mismatch(Any.self, "Models, arrays of models, 'ToMany' and 'ToOne' are what a relationship is decoded into")
    }
}

extension RelationshipNode {
    /// Decodes the target of an identifier.
    ///
    /// Where it did not come along, or a circle is cut, what can be decoded from an identifier alone is.
    /// - Returns: nil where nothing can.
    func related<Model: Decodable>(_ type: Model.Type, _ identifier: JSONValue) throws -> Model? {
        guard let key = ResourceKey(reading: identifier) else { return nil }
        if let expected = pool.expectedType(type), expected != key.type { return nil }
        do {
            if let position = pool.position(of: key), let model = try pool.decodeRelated(type, at: position) { return model }
        } catch is JSONAPIUnknownType {
            return nil
        }
        return bare(type, identifier)
    }

    /// Decodes an identifier in place of a resource, which works for models that need no more.
    private func bare<Model: Decodable>(_ type: Model.Type, _ identifier: JSONValue) -> Model? {
        guard !pool.needsMore(type), let identifier = JSONAPIIdentifier(reading: identifier) else { return nil }
        do {
            return try Model(from: ResourceNode(JSONAPIResource(identifier), pool: pool))
        } catch {
            pool.noteNeedsMore(type)
            return nil
        }
    }
}

extension JSONAPIResource {
    init(_ identifier: JSONAPIIdentifier) {
        self.init(type: identifier.type, id: identifier.id, lid: identifier.lid, meta: identifier.meta)
    }
}

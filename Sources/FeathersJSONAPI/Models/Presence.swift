public import FeathersCore

// Synthesized conformances call these methods instead of the core's method for any value, because these are more
// specialized. They write null in the form that empties a relationship.

extension KeyedEncodingContainer {
    /// Encodes a relationship, unless it is absent. Null empties it.
    public mutating func encode(_ presence: Presence<some JSONAPIRelatable>, forKey key: Key) throws {
        try encodeRelationship(presence, empty: EmptyRelationship(), forKey: key)
    }

    /// Encodes a relationship, unless it is absent. Null empties it.
    public mutating func encode<Value>(_ presence: Presence<ToOne<Value>>, forKey key: Key) throws {
        try encodeRelationship(presence, empty: EmptyRelationship(), forKey: key)
    }

    /// Encodes a relationship, unless it is absent. Null empties it.
    public mutating func encode<Value>(_ presence: Presence<ToMany<Value>>, forKey key: Key) throws {
        try encodeRelationship(presence, empty: ToMany<Value>.empty, forKey: key)
    }

    /// Encodes a relationship, unless it is absent. Null empties it.
    public mutating func encode<Model: JSONAPIRelatable>(_ presence: Presence<[Model]>, forKey key: Key) throws {
        try encodeRelationship(presence, empty: [Model](), forKey: key)
    }

    /// - Parameter empty: An empty relationship: null to one resource, `[]` to many (JSON:API 1.1, 5.2.4).
    private mutating func encodeRelationship(
        _ presence: Presence<some Encodable>, empty: some Encodable, forKey key: Key
    ) throws {
        switch presence {
        case .absent: break
        case .null: try encode(empty, forKey: key)
        case .value(let value): try encode(value, forKey: key)
        }
    }
}

/// A value that may be missing altogether, or be there and null: what an optional cannot tell apart.
///
/// A missing value is not written, so that a patch changes nothing but what it names:
///
/// ```swift
/// struct PostPatch: Codable { var title = Presence<String>.absent, subtitle = Presence<String>.absent }
/// PostPatch(subtitle: .null)   // {"subtitle": null}
/// ```
public enum Presence<Value: Sendable>: Sendable {
    /// Nothing is said.
    case absent
    /// It is said that there is none.
    case null
    case value(Value)

    /// The value; nil where it is null, and where it is missing.
    public var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Whether nothing is said.
    public var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }
}

extension Presence: Equatable where Value: Equatable {}
extension Presence: Hashable where Value: Hashable {}

extension Presence: Decodable where Value: Decodable {
    /// Reads a value that is there; a missing one is read by the container that misses it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

extension Presence: Encodable where Value: Encodable {
    /// Writes null for a missing value where it can no longer be left out: in an array, for one.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

// What the compiler writes for a model's properties calls these in place of the containers' own methods, since they are more special.

extension KeyedDecodingContainer {
    /// Reads a property that may be missing; synthesized `Decodable` calls it.
    public func decode<Value: Decodable>(_ type: Presence<Value>.Type, forKey key: Key) throws -> Presence<Value> {
        guard contains(key) else { return .absent }
        return try decodeNil(forKey: key) ? .null : .value(try decode(Value.self, forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// Writes a property that may be left out; synthesized `Encodable` calls it.
    public mutating func encode<Value: Encodable>(_ presence: Presence<Value>, forKey key: Key) throws {
        switch presence {
        case .absent: break
        case .null where Value.self is any JSONAPIRelatable.Type || Value.self is any RelationshipWriting.Type:
            try encode(EmptyRelationship(), forKey: key)
        case .null: try encodeNil(forKey: key)
        case .value(let value): try encode(value, forKey: key)
        }
    }
}

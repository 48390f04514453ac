/// A value that can be absent, null, or present. An optional cannot distinguish absent from null.
///
/// An absent value is not written, so a patch changes only the members that are present:
///
/// ```swift
/// struct PostPatch: Codable { var title = Presence<String>.absent, subtitle = Presence<String>.absent }
/// PostPatch(subtitle: .null)   // {"subtitle": null}
/// ```
public enum Presence<Value: Sendable>: Sendable {
    /// The member is missing.
    case absent
    /// The member is null.
    case null
    case value(Value)

    /// The value; nil if it is null or absent.
    public var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }
}

extension Presence: Equatable where Value: Equatable {}
extension Presence: Hashable where Value: Hashable {}

extension Presence: Decodable where Value: Decodable {
    /// Decodes a present value or null. Only a keyed container can detect that a value is absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

extension Presence: Encodable where Value: Encodable {
    /// Encodes the value. If an absent value cannot be left out, for example in an array, it is encoded as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

// Synthesized conformances call these methods instead of the containers' own, because these are more specialized.

extension KeyedDecodingContainer {
    /// Decodes a property that may be absent.
    public func decode<Value: Decodable>(_ type: Presence<Value>.Type, forKey key: Key) throws -> Presence<Value> {
        guard contains(key) else { return .absent }
        return try decodeNil(forKey: key) ? .null : .value(try decode(Value.self, forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// Encodes a property unless it is absent.
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

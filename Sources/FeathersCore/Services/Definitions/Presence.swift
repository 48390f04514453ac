/// A property that can be absent, null, or a value. An optional cannot distinguish absent from null.
///
/// ```swift
/// nonisolated struct MessagePatch: Codable {
///     var pinned: Presence<Bool> = .absent
/// }
///
/// try await messages.patch(7, with: MessagePatch(pinned: .null))  // {"pinned": null}
/// try await messages.patch(7, with: MessagePatch(pinned: true))   // {"pinned": true}
/// try await messages.patch(7, with: MessagePatch())               // {}
/// ```
///
/// Literals are values, and `nil` is null. For a variable, write `.value(text)`.
public enum Presence<Value> {
    /// The property is left out, and keeps its value.
    case absent
    /// The property becomes null.
    case null
    /// The property becomes this value.
    indirect case value(Value)

    /// The value; nil if it is null or absent.
    public var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }
}

extension Presence: Sendable where Value: Sendable {}
extension Presence: Equatable where Value: Equatable {}
extension Presence: Hashable where Value: Hashable {}

extension Presence: Encodable where Value: Encodable {
    /// Writes the value or null. Only a keyed container can leave a property out: elsewhere, absent is null too.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if case .value(let value) = self { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension Presence: Decodable where Value: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

// The compiler prefers these when it synthesizes `encode(to:)` and `init(from:)` for a type with such properties.
extension KeyedEncodingContainer {
    /// Writes a patch value under a key, or nothing if it is absent.
    public mutating func encode(_ value: Presence<some Encodable>, forKey key: Key) throws {
        switch value {
        case .absent: break
        case .null: try encodeNil(forKey: key)
        case .value(let value): try encode(value, forKey: key)
        }
    }
}

extension KeyedDecodingContainer {
    /// Reads a patch value: absent if the key is missing.
    public func decode<Value: Decodable>(_ type: Presence<Value>.Type, forKey key: Key) throws -> Presence<Value> {
        guard contains(key) else { return .absent }
        return try decodeNil(forKey: key) ? .null : .value(decode(Value.self, forKey: key))
    }
}

extension Presence: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}

extension Presence: ExpressibleByBooleanLiteral where Value: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Value.BooleanLiteralType) { self = .value(Value(booleanLiteral: value)) }
}

extension Presence: ExpressibleByIntegerLiteral where Value: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Value.IntegerLiteralType) { self = .value(Value(integerLiteral: value)) }
}

extension Presence: ExpressibleByFloatLiteral where Value: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Value.FloatLiteralType) { self = .value(Value(floatLiteral: value)) }
}

extension Presence: ExpressibleByUnicodeScalarLiteral where Value: ExpressibleByUnicodeScalarLiteral {
    public init(unicodeScalarLiteral value: Value.UnicodeScalarLiteralType) {
        self = .value(Value(unicodeScalarLiteral: value))
    }
}

extension Presence: ExpressibleByExtendedGraphemeClusterLiteral
where Value: ExpressibleByExtendedGraphemeClusterLiteral {
    public init(extendedGraphemeClusterLiteral value: Value.ExtendedGraphemeClusterLiteralType) {
        self = .value(Value(extendedGraphemeClusterLiteral: value))
    }
}

extension Presence: ExpressibleByStringLiteral where Value: ExpressibleByStringLiteral {
    public init(stringLiteral value: Value.StringLiteralType) { self = .value(Value(stringLiteral: value)) }
}

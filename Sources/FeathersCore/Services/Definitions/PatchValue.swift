/// A property of a patch that the server may set to null: left out, null, or a value.
///
/// ```swift
/// struct MessagePatch: Codable {
///     var pinned: PatchValue<Bool> = .absent
/// }
///
/// try await messages.patch(7, with: MessagePatch(pinned: .null))  // {"pinned": null}
/// try await messages.patch(7, with: MessagePatch(pinned: true))   // {"pinned": true}
/// try await messages.patch(7, with: MessagePatch())               // {}
/// ```
///
/// Literals stand for values, and `nil` for null. For a variable, write `.value(text)`.
public enum PatchValue<Value> {
    /// The property is left out, and keeps its value.
    case absent
    /// The property becomes null.
    case null
    /// The property becomes this value.
    indirect case value(Value)
}

extension PatchValue: Sendable where Value: Sendable {}
extension PatchValue: Equatable where Value: Equatable {}
extension PatchValue: Hashable where Value: Hashable {}

extension PatchValue: Encodable where Value: Encodable {
    /// Writes the value or null. Only a keyed container can leave a property out: elsewhere, absent is null too.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if case .value(let value) = self { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension PatchValue: Decodable where Value: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

// The compiler prefers these when it writes `encode(to:)` and `init(from:)` for a type with such properties.
extension KeyedEncodingContainer {
    /// Writes a patch value under a key, or nothing if it is absent.
    public mutating func encode(_ value: PatchValue<some Encodable>, forKey key: Key) throws {
        switch value {
        case .absent: break
        case .null: try encodeNil(forKey: key)
        case .value(let value): try encode(value, forKey: key)
        }
    }
}

extension KeyedDecodingContainer {
    /// Reads a patch value: absent if the key is missing.
    public func decode<Value: Decodable>(_ type: PatchValue<Value>.Type, forKey key: Key) throws -> PatchValue<Value> {
        guard contains(key) else { return .absent }
        return try decodeNil(forKey: key) ? .null : .value(decode(Value.self, forKey: key))
    }
}

extension PatchValue: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}

extension PatchValue: ExpressibleByBooleanLiteral where Value: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Value.BooleanLiteralType) { self = .value(Value(booleanLiteral: value)) }
}

extension PatchValue: ExpressibleByIntegerLiteral where Value: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Value.IntegerLiteralType) { self = .value(Value(integerLiteral: value)) }
}

extension PatchValue: ExpressibleByFloatLiteral where Value: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Value.FloatLiteralType) { self = .value(Value(floatLiteral: value)) }
}

extension PatchValue: ExpressibleByUnicodeScalarLiteral where Value: ExpressibleByUnicodeScalarLiteral {
    public init(unicodeScalarLiteral value: Value.UnicodeScalarLiteralType) { self = .value(Value(unicodeScalarLiteral: value)) }
}

extension PatchValue: ExpressibleByExtendedGraphemeClusterLiteral where Value: ExpressibleByExtendedGraphemeClusterLiteral {
    public init(extendedGraphemeClusterLiteral value: Value.ExtendedGraphemeClusterLiteralType) {
        self = .value(Value(extendedGraphemeClusterLiteral: value))
    }
}

extension PatchValue: ExpressibleByStringLiteral where Value: ExpressibleByStringLiteral {
    public init(stringLiteral value: Value.StringLiteralType) { self = .value(Value(stringLiteral: value)) }
}

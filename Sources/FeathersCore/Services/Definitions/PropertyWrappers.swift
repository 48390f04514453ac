/// A property that is sent as null when it is nil. Without the wrapper it is left out.
///
/// ```swift
/// nonisolated struct Message: Codable {
///     var text: String
///     @Nullable var deletedAt: Date?
/// }
/// ```
///
/// Use it for properties that a server requires but allows to be null. A missing property is read as nil.
@propertyWrapper
public struct Nullable<Value> {
    /// The value, or nil for null.
    public var wrappedValue: Value?

    /// Creates a property with its first value.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension Nullable: Sendable where Value: Sendable {}
extension Nullable: Equatable where Value: Equatable {}
extension Nullable: Hashable where Value: Hashable {}

extension Nullable: Encodable where Value: Encodable {
    /// Writes the value or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension Nullable: Decodable where Value: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self.init(wrappedValue: container.decodeNil() ? nil : try container.decode(Value.self))
    }
}

/// A property whose type contains itself, such as a comment's parent comment.
///
/// ```swift
/// nonisolated struct Comment: Codable {
///     var text: String
///     @Indirect var parent: Comment?
/// }
/// ```
///
/// A structure cannot hold a value of its own type, so the wrapper stores the value elsewhere.
@propertyWrapper
public enum Indirect<Value> {
    indirect case stored(Value)

    /// The value.
    public var wrappedValue: Value {
        get {
            switch self {
            case .stored(let value): value
            }
        }
        set { self = .stored(newValue) }
    }

    /// Creates a property with its first value.
    public init(wrappedValue: Value) { self = .stored(wrappedValue) }
}

extension Indirect: Sendable where Value: Sendable {}
extension Indirect: Equatable where Value: Equatable {}
extension Indirect: Hashable where Value: Hashable {}

extension Indirect: Encodable where Value: Encodable {
    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension Indirect: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
    }
}

// The compiler prefers these when it synthesizes `encode(to:)` and `init(from:)` for a type with such properties.
extension KeyedEncodingContainer {
    /// Writes a property under a key, or nothing if it is nil.
    public mutating func encode<Value: Encodable>(_ property: Indirect<Value?>, forKey key: Key) throws {
        try encodeIfPresent(property.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Reads a property that may be missing or null.
    public func decode<Value: Decodable>(_ type: Indirect<Value?>.Type, forKey key: Key) throws -> Indirect<Value?> {
        Indirect(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }

    /// Reads a property that may be missing or null.
    public func decode<Value: Decodable>(_ type: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        Nullable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

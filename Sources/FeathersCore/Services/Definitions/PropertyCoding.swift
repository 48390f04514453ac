/// A type that is encoded by a list of its stored properties.
///
/// ```swift
/// struct MessagePatch: PropertyEncodable {
///     var text: String?
///     var pinned: Presence<Bool> = .absent
///
///     static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
///         ["text": \.text, "pinned": \.pinned]
///     }
/// }
/// ```
///
/// `swift package feathers-models` writes such types, because they compile faster than those with coding keys, for which the compiler writes
/// functions. They are not for a `JSONAPIModel`.
public protocol PropertyEncodable: Encodable, Sendable {
    /// The properties' names on the server and their key paths, in the order in which they are sent.
    ///
    /// Nil and ``Presence/absent`` are left out. To send null instead of nil, declare the property as ``Nullable`` and list its wrapper:
    /// `\._deletedAt`.
    ///
    /// The list is read when the type is first used.
    /// - Precondition: The type is a structure, and the list has all of its stored properties, which are encodable.
    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { get }
}

/// A type that is encoded, decoded, compared and hashed by a list of its stored properties.
///
/// ```swift
/// struct Attachment: PropertyCodable, Hashable {
///     var url: URL
///     var mimeType: String?
///
///     static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
///         ["url": \.url, "mime_type": \.mimeType]
///     }
/// }
/// ```
///
/// An optional property that is missing or null is read as nil.
/// - Precondition: The listed properties are decodable, and hashable if this type is equatable.
public protocol PropertyCodable: PropertyEncodable, Decodable {}

extension PropertyCodable {
    /// The properties by their names on the server.
    public typealias CodingKeys = PropertyKey<Self>
}

extension PropertyEncodable {
    /// Writes the properties.
    public func encode(to encoder: any Encoder) throws {
        try withUnsafePointer(to: self) { try StoredProperties.of(Self.self).encode($0, to: encoder) }
    }
}

extension PropertyCodable {
    /// Reads the properties.
    /// - Throws: `DecodingError` if a property is missing or has another type.
    public init(from decoder: any Decoder) throws {
        self = try withUnsafeTemporaryAllocation(of: Self.self, capacity: 1) { buffer in
            guard let value = buffer.baseAddress else { preconditionFailure("A buffer for one value has an address.") }
            try StoredProperties.of(Self.self).decode(decoder, to: value)
            return value.move()
        }
    }
}

extension PropertyCodable where Self: Equatable {
    /// Whether all properties are equal.
    public static func == (first: Self, second: Self) -> Bool {
        withUnsafePointer(to: first) { first in
            withUnsafePointer(to: second) { StoredProperties.of(Self.self).areEqual(first, $0) }
        }
    }
}

extension PropertyCodable where Self: Hashable {
    /// Hashes all properties.
    public func hash(into hasher: inout Hasher) {
        withUnsafePointer(to: self) { StoredProperties.of(Self.self).hash($0, into: &hasher) }
    }
}

extension PropertyCodable where Self: Hashable & Identifiable {
    /// Hashes the id alone: drafts without ids, and versions of one record, hash alike.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

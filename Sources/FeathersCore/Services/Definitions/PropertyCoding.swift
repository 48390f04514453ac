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
/// functions. A type that is decoded too is ``PropertyCodable``. A `JSONAPIModel` cannot list its properties.
public protocol PropertyEncodable: Encodable, Sendable {
    /// The properties' names on the server and their key paths, in the order in which they are sent.
    ///
    /// Nil and ``Presence/absent`` are left out. To send null instead of nil, declare the property as ``Nullable`` and list its wrapper:
    /// `\._deletedAt`.
    ///
    /// The list is read when the type is first used. If it is wrong, the program stops and says why.
    /// - Precondition: The type is a structure. The list has all of its stored properties, each by its own key path. They are encodable and have no
    ///   observers. Not checked: their conformances are not isolated to an actor.
    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { get }
}

/// A type that is encoded, decoded, compared and hashed by a list of its stored properties. With an id, it is hashed by the id alone.
///
/// ```swift
/// struct Attachment: PropertyCodable {
///     var url: URL
///     var mimeType: String?
///
///     static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
///         ["url": \.url, "mime_type": \.mimeType]
///     }
/// }
/// ```
///
/// An optional property that is missing or null is read as nil. Every listed property is read, even a `let` with an initial value, which the
/// compiler's own coding skips. Values with the same bytes are equal, so a NaN equals itself. Errors name properties by their `stringValue`.
///
/// The list takes the place of an enumeration `CodingKeys`, which has no effect, and of functions that are declared for the compiler's own coding
/// in extensions of `KeyedDecodingContainer`.
/// - Precondition: The listed properties are codable and hashable.
public protocol PropertyCodable: PropertyEncodable, Decodable, Hashable {}

extension PropertyCodable {
    /// The properties by their names on the server.
    public typealias CodingKeys = PropertyKey<Self>
}

extension PropertyEncodable {
    /// Writes the properties.
    public func encode(to encoder: any Encoder) throws {
        try withUnsafePointer(to: self) { try StoredProperties.of($0).encode($0, to: encoder) }
    }
}

extension PropertyCodable {
    /// Reads the properties.
    /// - Throws: `DecodingError` if a property is missing or has another type.
    public init(from decoder: any Decoder) throws {
        self = try withUnsafeTemporaryAllocation(of: Self.self, capacity: 1) { buffer in
            guard let value = buffer.baseAddress else { fatalError("A buffer for one value has an address.") }
            try StoredProperties.decode(decoder, to: value)
            return value.move()
        }
    }

    /// Whether all properties are equal.
    public static func == (first: Self, second: Self) -> Bool {
        withUnsafePointer(to: first) { first in
            withUnsafePointer(to: second) { StoredProperties.of(first).areEqual(first, $0) }
        }
    }

    /// Hashes all properties.
    public func hash(into hasher: inout Hasher) {
        withUnsafePointer(to: self) { StoredProperties.of($0).hash($0, into: &hasher) }
    }
}

extension PropertyCodable where Self: Identifiable {
    /// Hashes the id alone: drafts without ids, and versions of one record, hash alike.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

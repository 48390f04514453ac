/// A model whose properties queries can name by its coding keys.
///
/// Declare the keys where the compiler can see them. A typo in a query then doesn't compile:
///
/// ```swift
/// struct Message: Codable, Queryable {
///     var id: Int
///     var text: String
///     var createdAt: Date
///
///     enum CodingKeys: String, CodingKey { case id, text, createdAt }
/// }
///
/// let recent = try await messages.find(.where(.text, .isNot("")).sorted(by: .createdAt, .descending))
/// ```
///
/// The keys that the compiler makes up for a model without an enumeration of its own are private, and cannot be used.
public protocol Queryable: Decodable, Sendable {
    /// The keys the model is decoded by.
    associatedtype CodingKeys: CodingKey

    /// The keys that queries may name: all coding keys, unless the model declares fewer.
    associatedtype QueryKeys: CodingKey = CodingKeys
}

/// A property of a model, by its name on the server.
///
/// If the queries of a model may name other properties than it has, its `QueryKeys` can be such keys:
///
/// ```swift
/// struct Message: Codable, Queryable {
///     typealias QueryKeys = PropertyKey<Message>
/// }
///
/// extension PropertyKey<Message> {
///     static var createdAt: Self { Self("created_at") }
/// }
/// ```
///
/// `swift package feathers-models` writes them. They are the keys of every ``PropertyCodable`` model.
public struct PropertyKey<Model>: CodingKey {
    public let stringValue: String
    public var intValue: Int? { nil }

    /// Creates a key from the property's name on the server.
    public init(_ name: String) { stringValue = name }
    public init(stringValue: String) { self.stringValue = stringValue }
    public init?(intValue: Int) { nil }
    public var description: String { stringValue }
}

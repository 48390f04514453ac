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
/// let recent = try await messages.find(
///     .where(.text, .notEquals("")).sorted(by: .createdAt, .descending))
/// ```
///
/// The keys that the compiler makes up for a model without an enumeration of its own are private, and cannot be used.
public protocol Queryable: Decodable, Sendable {
    /// The keys the model is decoded by.
    associatedtype CodingKeys: CodingKey

    /// The keys that queries may name: the coding keys, unless the model declares others.
    ///
    /// If queries may name properties that the model lacks, or fewer than it has, list them:
    ///
    /// ```swift
    /// struct Message: Codable, Queryable {
    ///     var id: Int
    ///     var text: String
    ///
    ///     enum CodingKeys: String, CodingKey { case id, text }
    ///     enum QueryKeys: String, CodingKey { case text, createdAt = "created_at" }
    /// }
    /// ```
    associatedtype QueryKeys: CodingKey = CodingKeys
}

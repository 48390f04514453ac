/// What a relationship can lead to: a model, an enum of models, or an identifier.
public protocol JSONAPIRelatable: Codable, Sendable {
    /// What identifies the resource; nil while it has neither an id nor a local one.
    var jsonAPIIdentifier: JSONAPIIdentifier? { get }
}

/// A resource as a value of yours.
///
/// ```swift
/// struct Post: JSONAPIModel {
///     static let type = "posts"
///     var id: String?
///     var title: String
///     var author: ToOne<Person>
///     var comments: ToMany<Comment>
/// }
/// ```
///
/// What a property is follows from its type: ``ToOne``, ``ToMany``, models and arrays of models are relationships, ``JSONAPILinks`` and ``JSONAPIMeta``
/// are those of the resource, `lid` is the local id, everything else is an attribute. Coding keys rename properties.
public protocol JSONAPIModel: JSONAPIRelatable {
    /// A string, an integer or a UUID, or an optional of them.
    associatedtype ID: JSONAPIModelID

    /// The type's name in documents, sent as it is.
    static var type: String { get }

    /// The properties, by the names of their coding keys, that are read and never written.
    static var readOnly: Set<String> { get }

    /// The id; a model that is to be created may have none.
    var id: ID { get }

    /// The local id, which stands in for the id until the server has given one.
    var lid: String? { get }
}

extension JSONAPIModel {
    public static var readOnly: Set<String> { [] }

    public var lid: String? { nil }

    public var jsonAPIIdentifier: JSONAPIIdentifier? {
        if let id = id.jsonAPIText { return JSONAPIIdentifier(type: Self.type, id: id) }
        return lid.map { JSONAPIIdentifier(type: Self.type, lid: $0) }
    }
}

extension JSONAPIIdentifier: JSONAPIRelatable {
    public var jsonAPIIdentifier: JSONAPIIdentifier? { self }
}

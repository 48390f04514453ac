public import FeathersCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A target of a relationship: a model, an enum of models, or an identifier.
public protocol JSONAPIRelatable: Codable, Sendable {
    /// The resource's identifier; nil if it has neither an id nor a local id.
    var jsonAPIIdentifier: JSONAPIIdentifier? { get }
}

/// A resource as a value type that you define.
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
/// A property's type determines its role: ``ToOne``, ``ToMany``, models, and arrays of models are relationships;
/// ``JSONAPILinks`` and ``JSONAPIMeta`` hold the resource's links and meta; `lid` is the local id; any other type is an
/// attribute. Coding keys rename properties.
public protocol JSONAPIModel: JSONAPIRelatable {
    /// The type of the id: a string, an integer, or a UUID, or an optional of one of them.
    associatedtype ID: JSONAPIModelID

    /// The type's name in documents, sent unchanged.
    static var type: String { get }
    /// The properties that are read but never written, by the names of their coding keys.
    static var readOnly: Set<String> { get }
    /// The id; may be nil for a model that has not been created yet.
    var id: ID { get }
    /// The local id, used in place of the id until the server assigns one.
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

extension JSONAPIIdentifier: JSONAPIRelatable { public var jsonAPIIdentifier: JSONAPIIdentifier? { self } }

/// The type of a model's id. In documents, ids are always strings.
public protocol JSONAPIModelID: Codable, Sendable {
    /// The id as written in a document; nil if there is no id.
    var jsonAPIText: String? { get }
}

extension JSONAPIModelID where Self: ServiceIDConvertible {
    public var jsonAPIText: String? { (try? serviceID)?.description }
}
extension String: JSONAPIModelID {}
extension Int: JSONAPIModelID {}
extension Int32: JSONAPIModelID {}
extension Int64: JSONAPIModelID {}
extension UUID: JSONAPIModelID {}
extension ServiceID: JSONAPIModelID {}

extension Optional: JSONAPIModelID where Wrapped: JSONAPIModelID {
    public var jsonAPIText: String? { self?.jsonAPIText }
}

/// The meta of a resource, as a property of its model.
public struct JSONAPIMeta: Hashable, Sendable {
    /// The meta as JSON.
    public var json: JSONObject

    /// Creates meta with these members.
    public init(_ json: JSONObject = [:]) { self.json = json }

    /// Decodes the meta into your own type.
    /// - Throws: `DecodingError`, or any error from the type's `init(from:)`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, with coding: CodingOptions = CodingOptions())
        throws -> Value
    {
        try coding.decode(type, from: .object(json))
    }
}

extension JSONAPIMeta: Codable {
    public init(from decoder: any Decoder) throws { json = try decoder.singleValueContainer().decode(JSONObject.self) }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// A relationship target that is one of several models, distinguished by their resource types.
///
/// ```swift
/// enum Attachment: JSONAPIPolymorphic {
///     case photo(Photo), video(Video)
///
///     init(type: String, from decoder: any Decoder) throws {
///         switch type {
///         case Photo.type: self = .photo(try Photo(from: decoder))
///         case Video.type: self = .video(try Video(from: decoder))
///         default: throw JSONAPIUnknownType(type)
///         }
///     }
///
///     var model: any JSONAPIModel {
///         switch self {
///         case .photo(let photo): photo
///         case .video(let video): video
///         }
///     }
/// }
/// ```
public protocol JSONAPIPolymorphic: JSONAPIRelatable {
    /// Decodes the model for a resource type.
    /// - Throws: ``JSONAPIUnknownType`` for an unknown type. The target then counts as not included.
    init(type: String, from decoder: any Decoder) throws

    /// The model.
    var model: any JSONAPIModel { get }
}

extension JSONAPIPolymorphic {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: WireKey.self)
        try self.init(type: container.decode(String.self, forKey: WireKey("type")), from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try model.encode(to: encoder)
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(type(of: model).type, forKey: WireKey("type"))
    }

    public var jsonAPIIdentifier: JSONAPIIdentifier? { model.jsonAPIIdentifier }
}

/// A resource type that a ``JSONAPIPolymorphic`` type doesn't recognize.
public struct JSONAPIUnknownType: Error, Hashable, Sendable {
    /// The unknown type.
    public let type: String

    /// Creates an error for a type.
    public init(_ type: String) { self.type = type }
}

/// A relationship's target that is one of several models, told apart by their types.
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
    /// Decodes the model of a resource's type.
    /// - Throws: ``JSONAPIUnknownType`` for a type it does not know: the target then counts as one that did not come along.
    init(type: String, from decoder: any Decoder) throws

    /// The model.
    var model: any JSONAPIModel { get }
}

extension JSONAPIPolymorphic {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TypeKey.self)
        try self.init(type: container.decode(String.self, forKey: .type), from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try model.encode(to: encoder)
        var container = encoder.container(keyedBy: TypeKey.self)
        try container.encode(type(of: model).type, forKey: .type)
    }

    public var jsonAPIIdentifier: JSONAPIIdentifier? { model.jsonAPIIdentifier }
}

private enum TypeKey: String, CodingKey {
    case type
}

/// A resource of a type that a ``JSONAPIPolymorphic`` does not know.
public struct JSONAPIUnknownType: Error, Hashable, Sendable {
    /// The type that was not known.
    public let type: String

    /// An error for a type.
    public init(_ type: String) {
        self.type = type
    }
}

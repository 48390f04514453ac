public import FeathersCore
public import Foundation

/// Turns documents into models and plain records, and back.
///
/// ```swift
/// let codec = JSONAPICodec(keys: .dasherized)
/// let posts = try codec.decodeList(Post.self, from: JSONAPIDocument(parsing: bytes))
/// let document = try codec.document(of: post)
/// ```
public struct JSONAPICodec: Sendable {
    /// How names in documents follow from names of properties.
    public var keys: KeyStyle
    /// How attributes are written and read: dates, data, floats.
    ///
    /// Its keys are those of objects inside attributes. Names of attributes pass through them too, after ``keys``.
    public var coding: CodingOptions
    /// What attributes of type `URL` are relative to; nil leaves relative ones as they are.
    public var baseURL: URL?
    /// How many resources may stand inside each other in a model or a plain record.
    ///
    /// Models are values, so that a document whose resources lead to each other in a circle is cut where it meets itself; a long chain would overflow the stack.
    public var maximumNesting: Int

    /// A codec; the parameters are the properties of the same names.
    public init(
        keys: KeyStyle = .asIs, coding: CodingOptions = CodingOptions(), baseURL: URL? = nil, maximumNesting: Int = 32
    ) {
        self.keys = keys
        self.coding = coding
        self.baseURL = baseURL
        self.maximumNesting = maximumNesting
    }
}

extension JSONAPICodec {
    /// The resource of a model; properties that are nil are left out, see ``Presence`` for writing null.
    /// - Throws: ``JSONAPIError`` with the place of the property that cannot be written, and whatever the model's own `encode(to:)` throws.
    public func resource<Model: JSONAPIModel>(of model: Model) throws -> JSONAPIResource {
        let encoded = EncodedResource(codec: self, readOnly: Model.readOnly)
        let attributes: JSONValue
        do {
            attributes = try coding.encode(ResourceEncoding(model: model, resource: encoded))
        } catch let error as EncodingError {
            throw JSONAPIError(error)
        }
        return JSONAPIResource(
            type: Model.type, id: encoded.id, lid: encoded.id == nil ? encoded.lid ?? model.lid : nil, attributes: attributes.object ?? [:],
            relationships: encoded.relationships, meta: encoded.meta)
    }

    /// The document that creates or changes the resource of a model.
    /// - Throws: as ``resource(of:)`` does.
    public func document<Model: JSONAPIModel>(of model: Model) throws -> JSONAPIDocument {
        JSONAPIDocument(data: .one(try resource(of: model)))
    }
}

extension JSONAPIError {
    /// An attribute that cannot be written; the value itself is left out.
    init(_ error: EncodingError) {
        var pointer = JSONPointer.root.appending("data").appending("attributes")
        guard case .invalidValue(_, let context) = error else {
            self.init(pointer, "The attributes cannot be written")
            return
        }
        for key in context.codingPath { pointer = key.intValue.map(pointer.appending) ?? pointer.appending(key.stringValue) }
        self.init(pointer, context.debugDescription)
    }
}

public import FeathersCore
public import Foundation

/// Converts documents to models and plain records, and back.
///
/// ```swift
/// let codec = JSONAPICodec(keys: .dasherized)
/// let posts = try codec.decodeList(Post.self, from: JSONAPIDocument(parsing: bytes))
/// let document = try codec.document(of: post)
/// ```
public struct JSONAPICodec: Sendable {
    /// The mapping between the names of properties and the names in documents.
    public var keys: KeyStyle
    /// The format of attributes: dates, data, floats.
    ///
    /// Its key format applies to objects inside attributes, and to the names of attributes after ``keys``.
    public var coding: CodingOptions
    /// The base of attributes of type `URL`; nil leaves relative ones as they are.
    public var baseURL: URL?
    /// The maximum nesting of resources in a model or a plain record.
    ///
    /// Models are values, so a cycle of resources is cut where it returns to itself; a long chain would overflow the stack.
    public var maximumNesting: Int

    /// Creates a codec.
    public init(keys: KeyStyle = .asIs, coding: CodingOptions = CodingOptions(), baseURL: URL? = nil, maximumNesting: Int = 32) {
        self.keys = keys
        self.coding = coding
        self.baseURL = baseURL
        self.maximumNesting = maximumNesting
    }
}

// MARK: Models

extension JSONAPICodec {
    /// The resource of a model. Properties that are nil are left out; see ``Presence`` for writing null.
    /// - Throws: ``JSONAPIError`` with the location of the property that cannot be written, and any error of the model's `encode(to:)`.
    public func resource<Model: JSONAPIModel>(of model: Model) throws -> JSONAPIResource {
        let encoded = EncodedResource(codec: self, readOnly: Model.readOnly)
        let attributes: JSONValue
        do {
            attributes = try coding.encode(ResourceEncoding(model: model, resource: encoded))
        } catch EncodingError.invalidValue(_, let context) {
            // The value itself stays out of the error.
            throw JSONAPIError(JSONPointer.data.appending("attributes").appending(context.codingPath), context.debugDescription)
        }
        return JSONAPIResource(
            type: Model.type, id: encoded.id, lid: encoded.id == nil ? encoded.lid ?? model.lid : nil, attributes: attributes.object ?? [:],
            relationships: encoded.relationships, meta: encoded.meta)
    }

    /// The document that creates or changes the resource of a model.
    /// - Throws: the errors of ``resource(of:)``.
    public func document<Model: JSONAPIModel>(of model: Model) throws -> JSONAPIDocument {
        JSONAPIDocument(data: .one(try resource(of: model)))
    }

    /// Decodes the resource of a document; nil if its data are null.
    /// - Throws: ``JSONAPIError`` with the location of what does not fit the model, or if the document has no data or several resources, and
    ///   any error of the model's `init(from:)`.
    public func decodeIfPresent<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws -> Model? {
        try decodeIfPresent(type, from: DocumentSource(document))
    }

    /// Decodes the resource of a document's text; nil if its data are null.
    ///
    /// Faster than decoding a ``JSONAPIDocument``: no values but the model's are made.
    /// - Throws: the errors of ``decodeIfPresent(_:from:)``, and ``JSONAPIError`` if the bytes are no document.
    public func decodeIfPresent<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, parsing bytes: [UInt8]) throws -> Model? {
        try decodeIfPresent(type, from: DocumentSource(parsing: bytes))
    }

    private func decodeIfPresent<Model: JSONAPIRelatable>(_ type: Model.Type, from document: DocumentSource) throws -> Model? {
        switch document.shape {
        case .one?: return try ResourcePool(document, codec: self).decodePrimary(type, at: 0)
        case .null?: return nil
        case .many?: throw JSONAPIError(.data, "One resource is expected, not an array")
        case nil: throw JSONAPIError(.data, "'data' is missing")
        }
    }

    /// Decodes the resource of a document.
    /// - Throws: the errors of ``decodeIfPresent(_:from:)``, and ``JSONAPIError`` if the document's data are null.
    public func decode<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws -> Model {
        guard let model = try decodeIfPresent(type, from: document) else { throw JSONAPIError(.data, "A resource is expected, not null") }
        return model
    }

    /// Decodes the resources of a document.
    /// - Throws: the errors of ``decodeIfPresent(_:from:)``, and ``JSONAPIError`` if the document's data are not an array.
    public func decodeList<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws -> [Model] {
        try decodeList(type, from: DocumentSource(document))
    }

    /// Decodes the resources of a document's text.
    ///
    /// Faster than decoding a ``JSONAPIDocument``: no values but the models' are made.
    /// - Throws: the errors of ``decodeList(_:from:)``, and ``JSONAPIError`` if the bytes are no document.
    public func decodeList<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, parsing bytes: [UInt8]) throws -> [Model] {
        try decodeList(type, from: DocumentSource(parsing: bytes))
    }

    private func decodeList<Model: JSONAPIRelatable>(_ type: Model.Type, from document: DocumentSource) throws -> [Model] {
        guard document.shape == .many else { throw JSONAPIError(.data, "An array of resources is expected") }
        let pool = ResourcePool(document, codec: self)
        return try (0..<document.primaryCount).map { try pool.decodePrimary(type, at: $0) }
    }
}

// MARK: Plain records

extension JSONAPICodec {
    /// The data of a document as plain records: a record, an array of them, or null.
    ///
    /// Targets are nested along the paths of names in `include`; nil nests all that are included.
    public func records(of document: JSONAPIDocument, including include: [String]? = nil) -> JSONValue {
        var maker = RecordMaker(document, codec: self)
        let include = include.map { IncludePaths($0) }
        switch document.data {
        case .null?, nil: return .null
        case .one?: return maker.record(at: 0, including: include)
        case .many(let resources)?: return .array(resources.indices.map { maker.record(at: $0, including: include) })
        }
    }

    /// The resource of a plain record; only the identity of records inside its relationships is used.
    ///
    /// `type` is that of a record without one. `relationships` names the properties whose values don't show it: null, and empty arrays.
    /// - Throws: ``JSONAPIError`` with the location of a field that no resource can have.
    public func resource(
        ofRecord record: JSONObject, type: String? = nil, relationships: Set<String> = []
    ) throws(JSONAPIError) -> JSONAPIResource {
        var reader = RecordReader(codec: self, relationships: relationships)
        return try reader.resource(record, type: type)
    }
}

/// Lets a typed service of the core speak JSON:API: `app.service("posts", of: Post.self, coding: codec)`.
extension JSONAPICodec: JSONCodec {
    /// Converts a model to a plain record that knows which of its fields are relationships; any other value is encoded as JSON.
    /// - Throws: the errors of ``resource(of:)``.
    public func encode(_ value: some Encodable) throws -> JSONValue {
        guard let model = value as? any JSONAPIModel else { return try coding.encode(value) }
        return records(of: try document(of: model))
    }

    /// Decodes a model from a plain record; any other value is decoded from JSON.
    /// - Throws: ``JSONAPIError`` with the location that the problem would have in a document.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: JSONValue) throws -> Value {
        guard let related = type as? any JSONAPIRelatable.Type, let record = json.object else { return try coding.decode(type, from: json) }
        var reader = RecordReader(codec: self)
        let resource = try reader.resource(record, type: (type as? any JSONAPIModel.Type)?.type)
        let document = JSONAPIDocument(data: .one(resource), included: reader.included)
        guard let value = try decode(related, from: document) as? Value else { throw JSONAPIError(.root, "The record is no \(type)") }
        return value
    }
}

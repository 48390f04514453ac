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
    /// The mapping between property names and the names in documents.
    public var keys: KeyStyle
    /// The format of attributes: dates, data, and floats.
    ///
    /// Its key format applies to objects inside attributes, and to the names of attributes after ``keys``.
    public var coding: CodingOptions
    /// The base URL for attributes of type `URL`; nil leaves relative URLs unchanged.
    public var baseURL: URL?
    /// The maximum nesting of resources in a model or plain record.
    ///
    /// Models are values, so a cycle of resources is cut at the first repeated resource. Without a limit, a long chain
    /// would overflow the stack.
    public var maximumNesting: Int

    /// Creates a codec.
    public init(
        keys: KeyStyle = .asIs, coding: CodingOptions = CodingOptions(), baseURL: URL? = nil, maximumNesting: Int = 32
    ) {
        self.keys = keys
        self.coding = coding
        self.baseURL = baseURL
        self.maximumNesting = maximumNesting
    }
}

// MARK: Models

extension JSONAPICodec {
    /// Returns the resource for a model. Properties that are nil are left out; see `Presence` for writing null.
    /// - Throws: ``JSONAPIError`` with the location of a property that cannot be written, or any error from the model's
    ///   `encode(to:)`.
    public func resource<Model: JSONAPIModel>(of model: Model) throws -> JSONAPIResource {
        let encoded = EncodedResource(codec: self, readOnly: Model.readOnly)
        let attributes: JSONValue
        do {
            attributes = try coding.encode(ResourceEncoding(model: model, resource: encoded))
        } catch EncodingError.invalidValue(_, let context) {
            // The value itself stays out of the error.
            throw JSONAPIError(
                JSONPointer.data.appending("attributes").appending(context.codingPath), context.debugDescription)
        }
        return JSONAPIResource(
            type: Model.type, id: encoded.id, lid: encoded.id == nil ? encoded.lid ?? model.lid : nil,
            attributes: attributes.object ?? [:],
            relationships: encoded.relationships, meta: encoded.meta)
    }

    /// Returns the document that creates or changes the resource of a model.
    /// - Throws: The errors of ``resource(of:)``.
    public func document<Model: JSONAPIModel>(of model: Model) throws -> JSONAPIDocument {
        JSONAPIDocument(data: .one(try resource(of: model)))
    }

    /// Decodes the resource of a document; nil if its data is null.
    /// - Throws: ``JSONAPIError`` with the location of a value that does not fit the model, or if the document has no
    ///   data or several resources; any error from the model's `init(from:)`.
    public func decodeIfPresent<Model: JSONAPIRelatable>(
        _ type: Model.Type = Model.self, from document: JSONAPIDocument
    ) throws -> Model? {
        try decodeIfPresent(type, from: DocumentSource(document))
    }

    /// Decodes the resource of a document's text; nil if its data are null.
    ///
    /// Faster than decoding a ``JSONAPIDocument``, which it does not create.
    /// - Throws: The errors of ``decodeIfPresent(_:from:)``, and ``JSONAPIError`` if the bytes are not a document.
    public func decodeIfPresent<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, parsing bytes: [UInt8]) throws
        -> Model?
    {
        try decodeIfPresent(type, from: DocumentSource(reading: JSONValue(document: bytes)))
    }

    func decodeIfPresent<Model: JSONAPIRelatable>(
        _ type: Model.Type, from document: DocumentSource, including include: IncludePaths? = nil
    ) throws -> Model? {
        switch document.shape {
        case .one?:
            let pool = ResourcePool(document, codec: self, including: include)
            return try pool.decodePrimary(pool.models(of: type), at: 0)
        case .null?: return nil
        case .many?: throw JSONAPIError(.data, "Expected one resource but found an array")
        case nil: throw JSONAPIError(.data, "'data' is missing")
        }
    }

    /// Decodes the resource of a document.
    /// - Throws: The errors of ``decodeIfPresent(_:from:)``, or ``JSONAPIError`` if the document's data is null.
    public func decode<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws
        -> Model
    {
        guard let model = try decodeIfPresent(type, from: document) else {
            throw JSONAPIError(.data, "Expected a resource but found null")
        }
        return model
    }

    /// Decodes the resources of a document.
    /// - Throws: The errors of ``decodeIfPresent(_:from:)``, or ``JSONAPIError`` if the document's data is not an
    ///   array.
    public func decodeList<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument)
        throws -> [Model]
    {
        try decodeList(type, from: DocumentSource(document))
    }

    /// Decodes the resources of a document's text.
    ///
    /// Faster than decoding a ``JSONAPIDocument``, which it does not create.
    /// - Throws: The errors of ``decodeList(_:from:)``, and ``JSONAPIError`` if the bytes are not a document.
    public func decodeList<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, parsing bytes: [UInt8]) throws
        -> [Model]
    {
        try decodeList(type, from: DocumentSource(reading: JSONValue(document: bytes)))
    }

    func decodeList<Model: JSONAPIRelatable>(
        _ type: Model.Type, from document: DocumentSource, including include: IncludePaths? = nil
    ) throws -> [Model] {
        guard document.shape == .many else { throw JSONAPIError(.data, "Expected an array of resources") }
        let pool = ResourcePool(document, codec: self, including: include)
        let models = pool.models(of: type)
        var list: [Model] = []
        list.reserveCapacity(document.primaryCount)
        for position in 0..<document.primaryCount { list.append(try pool.decodePrimary(models, at: position)) }
        return list
    }
}

// MARK: Plain records

extension JSONAPICodec {
    /// Returns the data of a document as plain records: one record, an array of records, or null.
    ///
    /// Targets are nested along the paths in `include`; nil nests all included targets.
    public func records(of document: JSONAPIDocument, including include: [String]? = nil) -> JSONValue {
        var maker = RecordMaker(document, codec: self)
        let include = include.map { IncludePaths($0) }
        switch document.data {
        case .null?, nil: return .null
        case .one?: return maker.record(at: 0, including: include)
        case .many(let resources)?: return .array(resources.indices.map { maker.record(at: $0, including: include) })
        }
    }

    /// Returns the resource for a plain record. Of the records inside its relationships, only the identity is used.
    ///
    /// `type` applies to a record without one. `relationships` names the relationships whose values could be
    /// attributes: null and empty arrays.
    /// - Throws: ``JSONAPIError`` with the location of a field that a resource cannot have.
    public func resource(
        ofRecord record: JSONObject, type: String? = nil, relationships: Set<String> = []
    ) throws(JSONAPIError) -> JSONAPIResource {
        var reader = RecordReader(codec: self, relationships: relationships)
        return try reader.resource(record, type: type)
    }
}

/// Adds JSON:API support to a service with a model: `app.service("posts", of: Post.self, coding: codec)`.
extension JSONAPICodec: JSONCodec {
    /// Encodes a model as a plain record that marks which of its fields are relationships. Any other value is encoded
    /// as JSON.
    /// - Throws: The errors of ``resource(of:)``.
    public func encode(_ value: some Encodable) throws -> JSONValue {
        guard let model = value as? any JSONAPIModel else { return try coding.encode(value) }
        return records(of: try document(of: model))
    }

    /// Decodes a model from a plain record. Any other value is decoded from JSON.
    /// - Throws: ``JSONAPIError`` with the location that the problem would have in a document.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: JSONValue) throws -> Value {
        guard let related = type as? any JSONAPIRelatable.Type, let record = json.object else {
            return try coding.decode(type, from: json)
        }
        var reader = RecordReader(codec: self)
        let resource = try reader.resource(record, type: (type as? any JSONAPIModel.Type)?.type)
        let document = JSONAPIDocument(data: .one(resource), included: reader.included)
        guard let value = try decode(related, from: document) as? Value else {
            throw JSONAPIError(.root, "The record is not a \(type)")
        }
        return value
    }
}

public import FeathersCore

extension JSONAPICodec {
    /// The data of a document as plain records: a record, an array of them, or null.
    /// - Parameters:
    ///   - document: the document as it came.
    ///   - include: the paths, of names as they stand in the document, whose targets are put inside; nil for all that came along.
    public func records(of document: JSONAPIDocument, including include: [String]? = nil) -> JSONValue {
        guard let data = document.data else { return .null }
        var maker = RecordMaker(document, codec: self)
        let include = include.map { IncludePaths($0) }
        switch data {
        case .null: return .null
        case .one: return maker.record(at: 0, including: include)
        case .many(let resources):
            return .array(resources.indices.map { maker.record(at: $0, including: include) })
        }
    }

    /// The resource of a plain record; what is inside of relationships counts by its identity alone.
    /// - Parameters:
    ///   - record: the fields, `id` and `type` among them.
    ///   - type: what a record without a `type` is.
    ///   - relationships: the names of properties that are relationships even where their values do not show it: null, and empty arrays.
    /// - Throws: ``JSONAPIError`` with the place of the field that no resource can have.
    public func resource(
        ofRecord record: JSONObject, type: String? = nil, relationships: Set<String> = []
    ) throws(JSONAPIError) -> JSONAPIResource {
        var reader = RecordReader(codec: self, relationships: relationships)
        return try reader.resource(record, type: type)
    }
}

/// With it a typed service of the core's speaks JSON:API as well: `app.service("posts", of: Post.self, coding: codec)`.
extension JSONAPICodec: JSONCodec {
    /// Turns a model into a plain record that remembers which of its fields are relationships; anything else is encoded as JSON.
    /// - Throws: as ``resource(of:)`` does.
    public func encode(_ value: some Encodable) throws -> JSONValue {
        guard let model = value as? any JSONAPIModel else { return try coding.encode(value) }
        return records(of: JSONAPIDocument(data: .one(try resource(of: model))))
    }

    /// Decodes a model from a plain record; anything else is decoded from JSON.
    /// - Throws: ``JSONAPIError`` with the place of what does not fit, as it would stand in a document.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: JSONValue) throws -> Value {
        guard let related = type as? any JSONAPIRelatable.Type, let record = json.object else {
            return try coding.decode(type, from: json)
        }
        var reader = RecordReader(codec: self)
        let resource = try reader.resource(record, type: (type as? any JSONAPIModel.Type)?.type)
        let document = JSONAPIDocument(data: .one(resource), included: reader.included)
        guard let value = try decode(related, from: document) as? Value else {
            throw JSONAPIError(.root, "The record is no \(type)")
        }
        return value
    }
}

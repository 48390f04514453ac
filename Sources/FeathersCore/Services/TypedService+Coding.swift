extension TypedService {
    /// The call's codec, else the service's, else the app's.
    package func codec(for params: Params) -> any JSONCodec {
        params.coding ?? coding ?? untyped.app.coding
    }

    /// What is inside the envelope.
    func unwrap(_ json: JSONValue) throws -> JSONValue {
        if rootKeys.isEmpty { return json }
        do {
            return try json.unwrapped(by: rootKeys)
        } catch {
            throw FeathersError.undecodable("A result of service '\(path)'", as: Model.self, error)
        }
    }

    /// The records of a result of `find`, not decoded yet.
    package func page(_ json: JSONValue) throws -> Paginated<JSONValue> {
        try Paginated(json: unwrap(json))
    }

    /// Decodes a result of `find`.
    package func decodePage(_ json: JSONValue, _ params: Params) throws -> Paginated<Model> {
        let codec = codec(for: params)
        return try page(json).map { try decode($0, codec) }
    }

    /// Decodes a result that is one record.
    package func decodeResult(_ json: JSONValue, _ params: Params) throws -> Model {
        try decode(unwrap(json), codec(for: params))
    }

    /// Decodes a record without an envelope: one of a page, or an event's.
    package func decodeRecord(_ json: JSONValue, _ params: Params) throws -> Model {
        try decode(json, codec(for: params))
    }

    func decode<Value: Decodable>(_ json: JSONValue, as type: Value.Type = Model.self, _ codec: any JSONCodec) throws -> Value {
        do {
            return try codec.decode(type, from: json)
        } catch {
            throw FeathersError.undecodable("A result of service '\(path)'", as: type, error)
        }
    }

    func decodeList(_ json: JSONValue, _ codec: any JSONCodec) throws -> [Model] {
        try page(json).data.map { try decode($0, codec) }
    }
}

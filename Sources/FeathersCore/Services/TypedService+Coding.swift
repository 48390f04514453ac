extension TypedService {
    /// The call's codec, else the service's, else the app's.
    package func codec(for params: Params) -> any JSONCodec {
        params.coding ?? coding ?? untyped.app.coding
    }

    /// Decodes a result of `find`.
    package func decodePage(_ json: JSONValue, _ params: Params) throws -> Paginated<Model> {
        try decodePage(.value(json), params)
    }

    /// Decodes a result that is one record.
    package func decodeResult(_ json: JSONValue, _ params: Params) throws -> Model {
        try decode(.value(json), as: Model.self, codec(for: params))
    }

    /// Decodes a record without an envelope: one of a page, or an event's.
    package func decodeRecord(_ json: JSONValue, _ params: Params) throws -> Model {
        try decode(unwrapped: json, codec(for: params))
    }

    /// The records of a result of `find`, not decoded yet.
    package func page(_ json: JSONValue) throws -> Paginated<JSONValue> {
        try Paginated(json: unwrap(json))
    }
}

extension TypedService {
    func decodePage(_ result: CallResult, _ params: Params) throws -> Paginated<Model> {
        let codec = codec(for: params)
        if rootKeys.isEmpty, case .text(let text) = result, let options = codec as? CodingOptions {
            let decoder = JSONListDecoder(options, text: text)
            return try withExtendedLifetime(text) {
                try Paginated(source: .text(text.root)) { record in
                    try named(Model.self) { try decoder.decode(Model.self, from: record) }
                }
            }
        }
        return try page(result.json).map { try decode(unwrapped: $0, codec) }
    }

    func decodeList(_ result: CallResult, _ params: Params) throws -> [Model] {
        try decodePage(result, params).data
    }

    func decode<Value: Decodable>(_ result: CallResult, as type: Value.Type = Model.self, _ codec: any JSONCodec) throws -> Value {
        try named(type) { try result.decode(type, at: rootKeys, codec) }
    }

    private func decode(unwrapped json: JSONValue, _ codec: any JSONCodec) throws -> Model {
        try named(Model.self) { try codec.decode(Model.self, from: json) }
    }

    /// What is inside the envelope.
    private func unwrap(_ json: JSONValue) throws -> JSONValue {
        if rootKeys.isEmpty { return json }
        return try named(Model.self) { try json.unwrapped(by: rootKeys) }
    }

    /// Has what a decoder says name the service and the model.
    private func named<Value>(_ type: Any.Type, _ decode: () throws -> Value) throws -> Value {
        do {
            return try decode()
        } catch {
            throw FeathersError.undecodable("A result of service '\(path)'", as: type, error)
        }
    }
}

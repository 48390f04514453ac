extension TypedService {
    /// The call's codec, else the service's, else the app's.
    func codec(for params: Params) -> any JSONCodec {
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

    func page(_ json: JSONValue) throws -> Paginated<JSONValue> {
        try Paginated(json: unwrap(json))
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

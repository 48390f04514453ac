// Literals with variables as arguments: `create(["name": name, "age": age])`. Swift converts literals to JSON, but not the variables in them, so these
// overloads take any encodable value. `KeyValuePairs` keeps the order of the keys. Literals without variables use the overloads for JSON.

extension UntypedService {
    /// Creates a record from a literal with variables: `create(["name": name, "age": age])`.
    @concurrent @discardableResult @_disfavoredOverload
    public func create(
        _ data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await create(json(data, params), query: query, params: params)
    }

    /// Replaces a record with a literal with variables.
    @concurrent @discardableResult @_disfavoredOverload
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(),
        params: Params = Params()
    ) async throws -> JSONValue {
        try await update(id, with: json(data, params), query: query, params: params)
    }

    /// Merges a literal with variables into a record.
    @concurrent @discardableResult @_disfavoredOverload
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(),
        params: Params = Params()
    ) async throws -> JSONValue {
        try await patch(id, with: json(data, params), query: query, params: params)
    }

    /// Merges a literal with variables into every record that matches a query.
    @concurrent @discardableResult @_disfavoredOverload
    public func patchAll(
        query: Query, with data: KeyValuePairs<String, any Encodable & Sendable>, params: Params = Params()
    ) async throws -> JSONValue {
        try await patchAll(query: query, with: json(data, params), params: params)
    }

    /// Calls a custom method with a literal with variables.
    @concurrent @discardableResult @_disfavoredOverload
    public func call(
        _ method: ServiceMethod, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(),
        params: Params = Params()
    ) async throws -> JSONValue {
        try await call(method, with: json(data, params), query: query, params: params)
    }

    private func json(_ data: KeyValuePairs<String, any Encodable & Sendable>, _ params: Params) throws -> JSONValue {
        try (params.coding ?? app.coding).encodeSent(data, to: path)
    }
}

extension TypedService {
    /// Creates a record from a literal with variables: `create(["name": name, "age": age])`.
    @concurrent @discardableResult @_disfavoredOverload
    public func create(
        _ data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try await create(json(data, params), query: query, params: params)
    }

    /// Replaces a record with a literal with variables.
    @concurrent @discardableResult @_disfavoredOverload
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await update(id, with: json(data, params), query: query, params: params)
    }

    /// Merges a literal with variables into a record.
    @concurrent @discardableResult @_disfavoredOverload
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await patch(id, with: json(data, params), query: query, params: params)
    }

    /// Merges a literal with variables into every record that matches a query.
    @concurrent @discardableResult @_disfavoredOverload
    public func patchAll(
        query: Query, with data: KeyValuePairs<String, any Encodable & Sendable>, params: Params = Params()
    ) async throws -> [Model] {
        try await patchAll(query: query, with: json(data, params), params: params)
    }

    private func json(_ data: KeyValuePairs<String, any Encodable & Sendable>, _ params: Params) throws -> JSONValue {
        try codec(for: params).encodeSent(data, to: path)
    }
}

extension JSONCodec {
    /// A literal as the object that is sent. Its keys are written as they are, its values in the codec's formats.
    fileprivate func encodeSent(_ members: KeyValuePairs<String, any Encodable & Sendable>, to path: String) throws -> JSONValue {
        var object = JSONObject(minimumCapacity: members.count)
        for (name, value) in members {
            do {
                object[name] = try encode(value)
            } catch EncodingError.invalidValue(let value, let context) {
                let context = EncodingError.Context(
                    codingPath: [JSONKey(stringValue: name)] + context.codingPath, debugDescription: context.debugDescription)
                throw FeathersError.unencodable(path, .invalidValue(value, context))
            }
        }
        return .object(object)
    }
}

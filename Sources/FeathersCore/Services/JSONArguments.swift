// JSON arguments for typed calls: for literals with values of several types, which do not form a dictionary of one type.

extension TypedService {
    /// Creates a record from JSON, such as a literal with values of several types.
    @concurrent @discardableResult
    public func create(_ data: JSONValue, query: Query = Query(), params: Params = Params()) async throws -> Model {
        let request = try untyped.request(.create, data: oneRecord(data), query: query, params: params)
        return try decode(await untyped.execute(request), .create, codec(for: params))
    }

    /// Creates several records from JSON in one call.
    @concurrent @discardableResult
    public func create(contentsOf data: [JSONValue], query: Query = Query(), params: Params = Params()) async throws -> [Model] {
        let request = untyped.request(.create, data: .array(data), query: query, params: params)
        return try decodeList(await untyped.execute(request), .create, params)
    }

    /// Replaces a record with JSON.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        let request = try untyped.request(.update, id: id.serviceID, data: data, query: query, params: params)
        return try decode(await untyped.execute(request), .update, codec(for: params))
    }

    /// Merges JSON into every record that matches a query.
    @concurrent @discardableResult
    public func patchAll(query: Query, with data: JSONValue, params: Params = Params()) async throws -> [Model] {
        try decodeList(await untyped.execute(untyped.request(.patch, data: data, query: query, params: params)), .patch, params)
    }

    /// Merges JSON into every record that matches a typed query.
    @concurrent @discardableResult
    public func patchAll(query: TypedQuery<Model>, with data: JSONValue, params: Params = Params()) async throws -> [Model] {
        try await patchAll(query: written(query, params), with: data, params: params)
    }

    /// Calls a custom method with JSON or without data, and decodes the result into the expected type.
    @concurrent
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: JSONValue = .null, returning type: Result.Type = Result.self, query: Query = Query(),
        params: Params = Params()
    ) async throws -> Result {
        let request = try untyped.customRequest(method, data: data, query: query, params: params)
        return try decode(await untyped.execute(request), method, as: type, codec(for: params))
    }

    /// Calls a custom method with JSON or without data, and ignores the result.
    @concurrent
    public func call(
        _ method: ServiceMethod, with data: JSONValue = .null, query: Query = Query(), params: Params = Params()
    ) async throws {
        try await untyped.call(method, with: data, query: query, params: params)
    }

    /// Calls a custom method and ignores the result.
    @concurrent
    public func call(
        _ method: ServiceMethod, with data: some Encodable & Sendable, query: Query = Query(), params: Params = Params()
    ) async throws {
        try await untyped.call(method, with: codec(for: params).encodeSent(data, to: path), query: query, params: params)
    }
}

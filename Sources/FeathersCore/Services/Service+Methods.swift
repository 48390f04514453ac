extension Service {
    /// Lists the records that match a query: an array, or a page; read either with ``Paginated/init(json:)``.
    @concurrent
    public nonisolated func find(_ query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.find, query: query, params: params))
    }

    /// Reads one record.
    @concurrent
    public nonisolated func get(
        _ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.get, id: id.serviceID, query: query, params: params))
    }

    /// Creates a record.
    @concurrent @discardableResult
    public nonisolated func create(_ data: JSONValue, _ query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.create, data: data, query: query, params: params))
    }

    /// Creates several records in one call.
    @concurrent @discardableResult
    public nonisolated func create(
        contentsOf data: [JSONValue], _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.create, data: .array(data), query: query, params: params))
    }

    /// Replaces a record.
    @concurrent @discardableResult
    public nonisolated func update(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.update, id: id.serviceID, data: data, query: query, params: params))
    }

    /// Merges data into a record.
    @concurrent @discardableResult
    public nonisolated func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.patch, id: id.serviceID, data: data, query: query, params: params))
    }

    /// Merges data into every record that matches a query.
    @concurrent @discardableResult
    public nonisolated func patchAll(matching query: Query, with data: JSONValue, params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.patch, data: data, query: query, params: params))
    }

    /// Removes a record.
    @concurrent @discardableResult
    public nonisolated func remove(
        _ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.remove, id: id.serviceID, query: query, params: params))
    }

    /// Removes every record that matches a query.
    @concurrent @discardableResult
    public nonisolated func removeAll(matching query: Query, params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.remove, query: query, params: params))
    }

    /// Calls a custom method.
    @concurrent @discardableResult
    public nonisolated func call(
        _ method: ServiceMethod, with data: JSONValue = .null, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        guard method.isCustom else {
            throw FeathersError(
                .badRequest, "'\(method)' is no custom method: use '\(method)(…)' in place of 'call(\"\(method)\")'", execution: .neverSent)
        }
        return try await perform(request(method, data: data, query: query, params: params))
    }

    /// A request whose query is the one given, or else that of the params.
    private nonisolated func request(
        _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, query: Query, params: Params
    ) -> ServiceRequest {
        var params = params
        if !query.isEmpty { params.query = query }
        return ServiceRequest(path: path, method: method, id: id, data: data, params: params)
    }
}

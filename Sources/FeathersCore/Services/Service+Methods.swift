extension Service {
    /// Lists the records that match a query: an array, or a page; read either with ``Paginated/init(json:)``.
    /// - Parameters:
    ///   - query: conditions, order, how many, and which properties are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    @concurrent
    public nonisolated func find(_ query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.find, query: query, params: params)).json
    }

    /// Reads one record.
    /// - Parameters:
    ///   - id: the record's id.
    ///   - query: what else must hold of the record, and which of its properties are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such record, or the query does not match it.
    @concurrent
    public nonisolated func get(
        _ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.get, id: id.serviceID, query: query, params: params)).json
    }

    /// Creates a record.
    /// - Parameters:
    ///   - data: the record.
    ///   - query: which properties of the result are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Returns: the record as the service keeps it, with its id.
    @concurrent @discardableResult
    public nonisolated func create(_ data: JSONValue, _ query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.create, data: data, query: query, params: params)).json
    }

    /// Creates several records in one call.
    /// - Parameters:
    ///   - data: the records.
    ///   - query: which properties of the result are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Returns: an array of the records as the service keeps them.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` where the service takes one at a time.
    @concurrent @discardableResult
    public nonisolated func create(
        contentsOf data: [JSONValue], _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.create, data: .array(data), query: query, params: params)).json
    }

    /// Replaces a record.
    ///
    /// What `data` leaves out is gone; ``patch(_:with:_:params:)`` keeps it.
    /// - Parameters:
    ///   - id: the record's id.
    ///   - data: the whole record.
    ///   - query: what else must hold of the record, and which of its properties are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such record, or the query does not match it.
    @concurrent @discardableResult
    public nonisolated func update(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.update, id: id.serviceID, data: data, query: query, params: params)).json
    }

    /// Merges data into a record.
    /// - Parameters:
    ///   - id: the record's id.
    ///   - data: the properties to change.
    ///   - query: what else must hold of the record, and which of its properties are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such record, or the query does not match it.
    @concurrent @discardableResult
    public nonisolated func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.patch, id: id.serviceID, data: data, query: query, params: params)).json
    }

    /// Merges data into every record that matches a query.
    /// - Parameters:
    ///   - query: the conditions. With an empty one, and none in `params.query`, every record matches.
    ///   - data: the properties to change.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Returns: an array of the changed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` where the service changes one at a time.
    @concurrent @discardableResult
    public nonisolated func patchAll(matching query: Query, with data: JSONValue, params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.patch, data: data, query: query, params: params)).json
    }

    /// Removes a record.
    /// - Parameters:
    ///   - id: the record's id.
    ///   - query: what else must hold of the record, and which of its properties are sent. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Returns: the record as it was.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such record, or the query does not match it.
    @concurrent @discardableResult
    public nonisolated func remove(
        _ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(request(.remove, id: id.serviceID, query: query, params: params)).json
    }

    /// Removes every record that matches a query.
    /// - Parameters:
    ///   - query: the conditions. With an empty one, and none in `params.query`, every record matches.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Returns: an array of the records as they were.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` where the service removes one at a time.
    @concurrent @discardableResult
    public nonisolated func removeAll(matching query: Query, params: Params = Params()) async throws -> JSONValue {
        try await perform(request(.remove, query: query, params: params)).json
    }

    /// Calls a custom method.
    /// - Parameters:
    ///   - method: the method's name.
    ///   - data: what the method is given.
    ///   - query: goes with the call. An empty one leaves it to `params.query`.
    ///   - params: header fields, values for the path's placeholders, a deadline, values of your own for hooks.
    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six, and ``FeathersError/Code/methodNotAllowed`` where the service has no such method.
    @concurrent @discardableResult
    public nonisolated func call(
        _ method: ServiceMethod, with data: JSONValue = .null, _ query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await perform(customRequest(method, data: data, query: query, params: params)).json
    }

    /// A request of a custom method.
    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six.
    nonisolated func customRequest(
        _ method: ServiceMethod, data: JSONValue, query: Query, params: Params
    ) throws(FeathersError) -> ServiceRequest {
        guard method.isCustom else {
            throw FeathersError(
                .badRequest, "'\(method)' is no custom method: use '\(method)(…)' in place of 'call(\"\(method)\")'", execution: .neverSent)
        }
        return request(method, data: data, query: query, params: params)
    }

    /// A request whose query is the one given, or else that of the params.
    nonisolated func request(
        _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, query: Query, params: Params
    ) -> ServiceRequest {
        var params = params
        if !query.isEmpty { params.query = query }
        return ServiceRequest(path: path, method: method, id: id, data: data, params: params)
    }
}

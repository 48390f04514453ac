// Reads that return one record or a number.

extension UntypedService {
    /// Reads one record, or returns nil if the server responds with ``FeathersError/Code/notFound``.
    @concurrent
    public func find(id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()) async throws
        -> JSONValue?
    {
        try await ifFound { try await get(id, query: query, params: params) }
    }

    /// Returns the first record that matches a query, in the query's order; nil if there is none.
    @concurrent
    public func first(_ query: Query = Query(), params: Params = Params()) async throws -> JSONValue? {
        try Paginated(json: await find(query.limit(1), params: params)).first
    }

    /// Returns the number of records that match a query, regardless of its `$limit` and `$skip`.
    ///
    /// Requests only the total (`$limit` 0). If the service does not paginate, the records are fetched and counted.
    /// - Throws: ``FeathersError/Code/generalError`` if the service's pages have no total.
    @concurrent
    public func count(_ query: Query = Query(), params: Params = Params()) async throws -> Int {
        try await count(query, params) { try Paginated(json: $0) }
    }

    /// - Parameter read: parses a result of `find`.
    func count(_ query: Query, _ params: Params, read: (JSONValue) throws -> Paginated<JSONValue>) async throws -> Int {
        var conditions = params.query.joined(with: query)
        for name in ["$limit", "$skip", "$sort"] { conditions.json[name] = nil }
        let params = params.withoutQuery
        if let total = try read(await find(conditions.limit(0), params: params)).total { return total }
        let page = try read(await find(conditions, params: params))
        guard page.total == nil, page.limit == nil else {
            throw FeathersError(.generalError, "The pages of service '\(path)' have no total: count the records of 'pages(…)' instead")
        }
        return page.count
    }
}

extension TypedService {
    /// Reads one record, or returns nil if the server responds with ``FeathersError/Code/notFound``.
    @concurrent
    public func find(id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()) async throws -> Model? {
        try await ifFound { try await get(id, query: query, params: params) }
    }

    /// Returns the first record that matches a query, in the query's order; nil if there is none.
    @concurrent
    public func first(_ query: Query = Query(), params: Params = Params()) async throws -> Model? {
        try await find(query.limit(1), params: params).first
    }

    /// Returns the first record that matches a typed query, in the query's order; nil if there is none.
    @concurrent
    public func first(_ query: TypedQuery<Model>, params: Params = Params()) async throws -> Model? {
        try await first(written(query, params), params: params)
    }

    /// Returns the number of records that match a query; see ``UntypedService/count(_:params:)``.
    @concurrent
    public func count(_ query: Query = Query(), params: Params = Params()) async throws -> Int {
        try await untyped.count(query, params, read: page)
    }

    /// Returns the number of records that match a typed query; see ``UntypedService/count(_:params:)``.
    @concurrent
    public func count(_ query: TypedQuery<Model>, params: Params = Params()) async throws -> Int {
        try await count(written(query, params), params: params)
    }
}

/// Returns the record, or nil if it does not exist. A path without a service, which FeathersJS reports with its URL, is still an error.
private func ifFound<Record: Sendable>(_ get: () async throws -> Record) async throws -> Record? {
    do {
        return try await get()
    } catch let error as FeathersError where error.code == .notFound && error.data?["url"] == nil {
        return nil
    }
}

// Calls that read.

extension Service {
    /// Returns the records that match a query, with the totals of the page if the service paginates.
    /// - Throws: ``FeathersError/Code/generalError`` if the result is neither a list nor a page. Read such a result
    ///   with ``respond(to:)``.
    @concurrent
    public func find(_ query: Query<Model> = Query(), params: Params = Params()) async throws -> Page<Model> {
        try decodePage(await executeCall(makeRequest(.find, query: query, params: params)), params)
    }

    /// Reads one record, or returns nil if the server responds with ``FeathersError/Code/notFound``.
    @concurrent
    public func find(
        id: some ServiceIDConvertible & Sendable, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model? {
        do {
            return try await get(id, query: query, params: params)
        } catch let error as FeathersError where error.code == .notFound && !error.saysServiceIsMissing {
            return nil
        }
    }

    /// Returns the first record that matches a query, in the query's order; nil if there is none.
    @concurrent
    public func first(_ query: Query<Model> = Query(), params: Params = Params()) async throws -> Model? {
        try await find(query.limit(1), params: params).first
    }

    /// Reads one record.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent
    public func get(
        _ id: some ServiceIDConvertible & Sendable, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        let request = try makeRequest(.get, id: id.serviceID, query: query, params: params)
        return try decode(await executeCall(request), .get, params)
    }

    /// Returns the number of records that match a query, regardless of its `$limit` and `$skip`.
    ///
    /// Requests only the total (`$limit` 0). If the service does not paginate, the records are fetched and counted.
    /// - Throws: ``FeathersError/Code/generalError`` if the service's pages have no total.
    @concurrent
    public func count(_ query: Query<Model> = Query(), params: Params = Params()) async throws -> Int {
        var conditions = try params.query.joined(with: query.written(for: codec(for: params)))
        for name in ["$limit", "$skip", "$sort"] { conditions.json[name] = nil }
        let params = params.withoutQuery
        if let total = try await page(of: conditions.limit(0), params).total { return total }
        let page = try await page(of: conditions, params)
        guard page.total == nil, page.limit == nil, page.extra.isEmpty else {
            throw FeathersError(
                .generalError, "The pages of service '\(path)' have no total: count the records of 'pages(…)' instead")
        }
        return page.count
    }

    private func page(of query: Query<JSONValue>, _ params: Params) async throws -> Page<JSONValue> {
        try page(await executeCall(json.makeRequest(.find, query: query, params: params)).result)
    }
}

extension FeathersError {
    /// Whether the path, not the record, was not found. FeathersJS reports it with a URL over HTTP, and only with this
    /// message over Socket.IO.
    fileprivate var saysServiceIsMissing: Bool {
        if execution == .neverSent || data?["url"] != nil { return true }
        return message.hasPrefix("Service '") && message.hasSuffix("' not found")
    }
}

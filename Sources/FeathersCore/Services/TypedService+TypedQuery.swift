extension TypedService {
    /// A typed query in the names, and with the dates, of this service.
    /// - Throws: ``FeathersError/Code/badRequest`` as ``TypedQuery/untyped(coding:)`` does.
    package func written(_ query: TypedQuery<Model>, _ params: Params) throws(FeathersError) -> Query {
        try query.untyped(coding: codec(for: params))
    }

    /// Lists the records that match a typed query.
    @concurrent
    public func find(_ query: TypedQuery<Model>, params: Params = Params()) async throws -> Paginated<Model> {
        try await find(written(query, params), params: params)
    }

    /// Merges data into every record that matches a typed query.
    @concurrent @discardableResult
    public func patchAll(
        matching query: TypedQuery<Model>, with data: some Encodable & Sendable, params: Params = Params()
    ) async throws -> [Model] {
        try await patchAll(matching: written(query, params), with: data, params: params)
    }

    /// Removes every record that matches a typed query.
    @concurrent @discardableResult
    public func removeAll(matching query: TypedQuery<Model>, params: Params = Params()) async throws -> [Model] {
        try await removeAll(matching: written(query, params), params: params)
    }

    /// All pages of the records that match a typed query; see ``Service/pages(_:of:keyedBy:prefetching:params:)``.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the property whose name on the server is not known.
    public func pages(
        _ query: TypedQuery<Model>, of size: Int = 100, keyedBy key: String? = nil, prefetching prefetch: Int = 0, params: Params = Params()
    ) throws -> ServicePages<Model> {
        try pages(written(query, params), of: size, keyedBy: key, prefetching: prefetch, params: params)
    }
}

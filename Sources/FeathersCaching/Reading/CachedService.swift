public import FeathersCore

/// The reads of a service with where their values come from, and both values where the policy gives two.
public struct CachedService: Sendable {
    let service: Service

    /// Lists the records that match a query.
    public func find(_ query: Query = Query(), policy: CachePolicy? = nil, params: Params = Params()) -> CachedResults<JSONValue> {
        results(.find, nil, query, policy, params) { $0 }
    }

    /// Reads one record.
    public func get(
        _ id: some ServiceIDConvertible, _ query: Query = Query(), policy: CachePolicy? = nil, params: Params = Params()
    ) -> CachedResults<JSONValue> {
        results(.get, id.serviceID, query, policy, params) { $0 }
    }

    func results<Value>(
        _ method: ServiceMethod, _ id: ServiceID?, _ query: Query, _ policy: CachePolicy?, _ params: Params,
        _ transform: @escaping @Sendable (JSONValue) throws -> Value
    ) -> CachedResults<Value> {
        var params = params
        if !query.isEmpty { params.query = query }
        if let policy { params.cachePolicy = policy }
        return CachedResults(
            service: service, request: ServiceRequest(path: service.path, method: method, id: id, params: params), transform: transform)
    }
}

/// The reads of a typed service with where their values come from, and both values where the policy gives two.
public struct CachedTypedService<Model: Codable & Sendable>: Sendable {
    let service: TypedService<Model>

    /// Lists the records that match a query, with the page's totals where the service paginates.
    public func find(_ query: Query = Query(), policy: CachePolicy? = nil, params: Params = Params()) -> CachedResults<Paginated<Model>> {
        let service = service
        return service.untyped.cached.results(.find, nil, query, policy, params) { try service.decodePage($0, params) }
    }

    /// Reads one record.
    public func get(
        _ id: some ServiceIDConvertible, _ query: Query = Query(), policy: CachePolicy? = nil, params: Params = Params()
    ) -> CachedResults<Model> {
        let service = service
        return service.untyped.cached.results(.get, id.serviceID, query, policy, params) { try service.decodeResult($0, params) }
    }
}

extension Service {
    /// The service's reads with where their values come from.
    public nonisolated var cached: CachedService { CachedService(service: self) }
}

extension TypedService {
    /// The service's reads with where their values come from.
    public var cached: CachedTypedService<Model> { CachedTypedService(service: self) }
}

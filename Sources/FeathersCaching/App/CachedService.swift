public import FeathersCore

/// The reads of a service together with the sources of their values, and both values where the policy yields two.
public struct CachedService: Sendable {
    let service: UntypedService

    /// Lists the records that match a query.
    public func find(_ query: Query = Query(), policy: CachePolicy? = nil, params: Params = Params()) -> CachedResults<JSONValue> {
        results(.find, nil, query, policy, params) { $0 }
    }

    /// Reads one record.
    public func get(
        _ id: some ServiceIDConvertible, _ query: Query = Query(), policy: CachePolicy? = nil, params: Params = Params()
    ) -> CachedResults<JSONValue> { results(.get, id.serviceID, query, policy, params) { $0 } }

    func results<Value>(
        _ method: ServiceMethod, _ id: ServiceID?, _ query: Query, _ policy: CachePolicy?, _ params: Params,
        _ transform: @escaping @Sendable (JSONValue) throws -> Value
    ) -> CachedResults<Value> {
        var params = params.joining(query)
        if let policy { params.cachePolicy = policy }
        return CachedResults(
            service: service, request: ServiceRequest(path: service.path, method: method, id: id, params: params), transform: transform)
    }
}

/// The reads of a typed service together with the sources of their values, and both values where the policy yields two.
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

extension UntypedService {
    /// The reads of the service, together with the sources of their values.
    public var cached: CachedService { CachedService(service: self) }
}

extension TypedService {
    /// The reads of the service, together with the sources of their values.
    public var cached: CachedTypedService<Model> { CachedTypedService(service: self) }
}

/// The values of one read, each with its source: one or two, depending on the policy.
///
/// ```swift
/// for try await result in messages.cached.find(.limit(20), policy: .cacheFirstNetworkAlways) {
///     show(result.value, isOld: result.source == .cache(isExpired: true))
/// }
/// ```
///
/// The read begins when the first value is requested. Every value is a call of its own, with all hooks: a reader who stops early leaves nothing running.
/// Reading to the end refreshes the cache where the policy says so, in the reader's own task if the app is not running. The sequence throws what the calls
/// throw, and ends there.
public struct CachedResults<Value: Sendable>: AsyncSequence, Sendable {
    let service: UntypedService
    let request: ServiceRequest
    let transform: @Sendable (JSONValue) throws -> Value

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let results: CachedResults
        private var order: CachedOrder? = .begin
        private var refresh: CachedRead?

        init(results: CachedResults) { self.results = results }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> CachedResult<Value>? {
            guard let order else {
                let refresh = self.refresh
                self.refresh = nil
                await refresh?.refresh()
                return nil
            }
            self.order = nil
            var request = results.request
            request.params[CachedOrder.self] = order
            let response = try await results.service.respond(to: request)
            let step = response[CachedStep.self]
            self.order = step?.following.map(CachedOrder.goOn)
            refresh = step?.refresh
            return CachedResult(try results.transform(response.result), from: step?.source ?? .network(updated: true))
        }
    }

    /// The first value. The rest of the read does not happen.
    public func first() async throws -> CachedResult<Value> {
        for try await result in self { return result }
        throw CancellationError()
    }

    /// The last value, which is the result of a plain call, with its source.
    public func last() async throws -> CachedResult<Value> {
        var last: CachedResult<Value>?
        for try await result in self { last = result }
        guard let last else { throw CancellationError() }
        return last
    }
}

/// A result together with its source.
public struct CachedResult<Value: Sendable>: Sendable {
    /// The result.
    public let value: Value
    /// Where the result came from, and whether it is expired or new.
    public let source: CacheSource

    /// Creates a result with its source.
    public init(_ value: Value, from source: CacheSource) { (self.value, self.source) = (value, source) }
}

extension CachedResult: Equatable where Value: Equatable {}

/// Where a result came from.
public enum CacheSource: Sendable, Hashable {
    /// The network; `updated` is false where the result equals the cached value that the same read yielded before.
    case network(updated: Bool)
    /// The cache.
    case cache(isExpired: Bool)
}

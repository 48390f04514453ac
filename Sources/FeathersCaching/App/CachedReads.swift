public import FeathersCore

extension Service {
    /// The reads of the service, with the source of each value.
    public var cached: CachedReads<Model> { CachedReads(service: self) }
}

/// The reads of a service as streams of values with their sources. A stream has two values if the policy yields two.
public struct CachedReads<Model: Codable & Sendable>: Sendable {
    let service: Service<Model>

    /// Returns the records that match a query, with the totals of the page if the service paginates.
    public func find(
        _ query: Query<Model> = Query(), policy: CachePolicy? = nil, params: Params = Params()
    ) -> CachedResults<Page<Model>> {
        let service = service
        return results(Result { () throws(FeathersError) in try request(.find, query, policy, params) }) {
            try service.decodePage($0, params)
        }
    }

    /// Reads one record.
    public func get(
        _ id: some ServiceIDConvertible, query: Query<Model> = Query(), policy: CachePolicy? = nil,
        params: Params = Params()
    ) -> CachedResults<Model> {
        let service = service
        return results(
            Result { () throws(FeathersError) in try request(.get, id: id.serviceID, query, policy, params) }
        ) {
            try service.decodeResult($0, of: .get, params)
        }
    }

    private func request(
        _ method: ServiceMethod, id: ServiceID? = nil, _ query: Query<Model>, _ policy: CachePolicy?, _ params: Params
    ) throws(FeathersError) -> ServiceRequest {
        var request = try service.makeRequest(method, id: id, query: query, params: params)
        if let policy { request.params.cachePolicy = policy }
        return request
    }

    private func results<Value>(
        _ request: Result<ServiceRequest, FeathersError>, _ transform: @escaping @Sendable (JSONValue) throws -> Value
    ) -> CachedResults<Value> {
        CachedResults(service: service.json, request: request, scope: UserScope.current, transform: transform)
    }
}

/// The values of one read, each with its source: one or two, depending on the policy.
///
/// ```swift
/// let results = messages.cached.find(.limit(20), policy: .cacheFirstNetworkAlways)
/// for try await result in results {
///     show(result.value, isOld: result.source == .cache(isExpired: true))
/// }
/// ```
///
/// The read begins when the first value is requested. Every value is a separate call with all hooks, so nothing keeps
/// running if you stop early. Reading to the end refreshes the cache if the policy requires it, in the reader's own
/// task if the app is not running. If a call throws, the sequence throws the error and ends.
public struct CachedResults<Value: Sendable>: AsyncSequence, Sendable {
    let service: Service<JSONValue>
    /// The request of the call, or the error that the first read throws.
    let request: Result<ServiceRequest, FeathersError>
    /// For whom the read was created.
    let scope: UserScope?
    let transform: @Sendable (JSONValue) throws -> Value

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let results: CachedResults
        private var order: CachedOrder? = .begin
        private var refresh: CachedRead?

        init(results: CachedResults) { self.results = results }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> CachedResult<
            Value
        >? {
            guard let order else {
                let refresh = self.refresh
                self.refresh = nil
                await refresh?.refresh()
                return nil
            }
            self.order = nil
            var request = try results.request.get()
            request.params[CachedOrder.self] = order
            let response = try await UserScope.run(in: results.scope) { [request] in
                try await results.service.respond(to: request)
            }
            let step = response[CachedStep.self]
            self.order = step?.following.map(CachedOrder.goOn)
            refresh = step?.refresh
            return CachedResult(try results.transform(response.result), from: step?.source ?? .network(updated: true))
        }
    }

    /// Returns the first value. The rest of the read is skipped.
    public func first() async throws -> CachedResult<Value> {
        for try await result in self { return result }
        throw CancellationError()
    }

    /// Returns the last value, which is the result of a plain call, with its source.
    public func last() async throws -> CachedResult<Value> {
        var last: CachedResult<Value>?
        for try await result in self { last = result }
        guard let last else { throw CancellationError() }
        return last
    }
}

/// A result and its source.
public struct CachedResult<Value: Sendable>: Sendable {
    /// The result.
    public let value: Value
    /// The source of the result, and whether it is expired or new.
    public let source: CacheSource

    init(_ value: Value, from source: CacheSource) { (self.value, self.source) = (value, source) }
}

extension CachedResult: Equatable where Value: Equatable {}

/// The source of a result.
public enum CacheSource: Sendable, Hashable {
    /// The network. `updated` is `false` if the result equals the cached value that the same read yielded before.
    case network(updated: Bool)
    /// The cache.
    case cache(isExpired: Bool)
}

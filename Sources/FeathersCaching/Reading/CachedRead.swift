import FeathersCore

/// One read under a policy: does what its steps order, one value at a time.
///
/// A value without open ends, so that a stream may keep it between two values and go on with it in another call.
struct CachedRead: Sendable {
    /// What is fixed when the read begins.
    struct Terms: Sendable {
        let key: CacheKey
        let expiration: CacheExpiration
        /// Whose answer it is, as the app and as the cache's options have it.
        let partition: CachePartition
        let ownPartition: String
        /// The call as it was, to ask again whose answer it is.
        let start: HookContext
    }

    enum Event: Sendable {
        case result(CachedResult<JSONValue>)
        /// The cached value was given out and is to be refreshed.
        case refresh
        case finished
    }

    let cache: ServiceCache
    let terms: Terms
    private(set) var steps: CacheSteps
    private var found: CacheEntry?
    private var isExpired = false
    private var fetched = JSONValue.null
    private var emitted: JSONValue?
    private var failure: (any Error)?

    init(_ cache: ServiceCache, _ terms: Terms, _ policy: CachePolicy) {
        self.cache = cache
        self.terms = terms
        steps = CacheSteps(policy)
    }

    /// Whether no further value will come.
    var isFinished: Bool { steps.order == .finish }

    /// Whether the cached value was given out and is to be refreshed.
    var isToRefresh: Bool { steps.order == .refresh }

    /// Goes on to the next value.
    /// - Throws: the network's failure, or that nothing is in the cache, as the policy has it.
    mutating func advance(_ context: inout HookContext, _ next: NextHook) async throws -> Event {
        while true {
            switch steps.order {
            case .lookUp:
                found = await cache.find(terms)
                isExpired = found?.isExpired(at: cache.options.now()) ?? false
                steps.found(found == nil ? .nothing : isExpired ? .expired : .fresh)
            case .fetch(let writes):
                do {
                    fetched = try await cache.fetch(terms, holding: found, writes: writes, &context, next)
                    steps.fetched()
                } catch  where error is CancellationError || Task.isCancelled {
                    throw error
                } catch {
                    failure = error
                    steps.fetchFailed()
                }
            case .emitFound:
                steps.emitted()
                guard let found else { return .finished }
                emitted = found.value
                return .result(CachedResult(found.value, from: .cache(isExpired: isExpired)))
            case .emitFetched:
                steps.emitted()
                return .result(CachedResult(fetched, from: .network(updated: emitted != fetched)))
            case .refresh:
                steps.handedOver()
                return .refresh
            case .failNotInCache:
                throw FeathersError.notInCache(context.method, at: context.path)
            case .failWithNetworkError:
                throw failure ?? CancellationError()
            case .finish:
                return .finished
            }
        }
    }

    /// Asks the network for the cache's sake.
    func refresh(_ context: inout HookContext, _ next: NextHook) async throws -> JSONValue {
        try await cache.fetch(terms, holding: found, writes: true, &context, next)
    }
}

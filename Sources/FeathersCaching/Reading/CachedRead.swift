import FeathersCore
import FeathersSupport

/// One read under a policy. It carries out its steps, one value at a time.
///
/// It is a value type: a stream stores it between two values and continues it in another call.
struct CachedRead: Sendable {
    /// The properties that are fixed when the read begins.
    struct Terms: Sendable {
        let request: ServiceRequest
        /// The service that sends requests.
        let next: any Responder
        let site: MiddlewareSite
        /// The user who was signed in when the read began.
        let sender: RequestSender
        /// The key of that user's entry.
        let key: CacheKey
        let expiration: CacheExpiration
        /// The partition from the cache's options.
        let ownPartition: String
        /// For whom the read was made, because a local service makes calls of its own.
        let scope = UserScope.current
    }

    enum Event: Sendable {
        case result(CachedResult<JSONValue>)
        /// The cached value was yielded and needs a refresh.
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
        (self.cache, self.terms) = (cache, terms)
        steps = CacheSteps(policy)
    }

    /// Whether there are no more values.
    var isFinished: Bool { steps.order == .finish }

    /// Whether the cached value was yielded and needs a refresh.
    var isToRefresh: Bool { steps.order == .refresh }

    /// Proceeds to the next value.
    /// - Throws: The network's error, or ``FeathersError/Code/notInCache``, depending on the policy.
    mutating func advance() async throws -> Event {
        while true {
            switch steps.order {
            case .lookUp:
                found = await cache.storedEntry(terms)
                isExpired = found?.isExpired(at: cache.cacheOptions.now()) ?? false
                steps.found(found == nil ? .nothing : isExpired ? .expired : .fresh)
            case .fetch(let writes):
                do {
                    fetched = try await cache.fetchEntry(terms, holding: found, writes: writes)
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
            case .failNotInCache: throw FeathersError.notInCache(terms.request)
            case .failWithNetworkError: throw failure ?? CancellationError()
            case .finish: return .finished
            }
        }
    }

    /// Fetches a new value for the cache. Errors are reported to the options.
    func refresh() async {
        // A refresh for one user must not be sent as another.
        guard cache.holds(terms) else { return }
        do {
            _ = try await UserScope.run(in: terms.scope) {
                try await cache.fetchEntry(terms, holding: found, writes: true)
            }
        } catch is CancellationError {
            // The app is shutting down.
        } catch {
            cache.cacheOptions.onFailure(error)
        }
    }
}

/// The properties that two cached reads must have in common to share one request.
struct InFlightRead: Sendable, Hashable {
    let key: CacheKey
    let stamp: CacheInvalidation.Stamp
    let sender: RequestSender
    let timeout: Duration?
    let writes: Bool
    let expiration: CacheExpiration
}

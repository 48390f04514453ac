/// The order in which a read uses the cache and the network.
///
/// A policy yields one or two values. Streams (``CachedReads``) yield both; a plain call returns the last one.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// Reads from the network and caches the response.
    case networkOnlyUpdateCache
    /// Reads from the network and does not cache the response.
    case networkOnlyNoCache
    /// Reads from the cache, expired or not. If there is no entry, the read fails with
    /// ``FeathersError/Code/notInCache``.
    case cacheOnly
    /// Reads from the cache if the entry is fresh, otherwise from the network. Never returns expired entries.
    case cacheFirstNetworkIfNotFoundOrExpired
    /// Reads from the cache, expired or not, and then from the network.
    case cacheFirstNetworkAlways
    /// Reads from the cache, expired or not, and refreshes the entry in the background. If there is no entry, reads
    /// from the network.
    case cacheFirstNetworkRefresh
    /// Reads from the network. After any failure except a cancellation, falls back to the cache, expired or not, if
    /// there is an entry.
    case networkFirstCacheIfFailed
}

/// The steps of one read under a policy: the first order, and the next one after each outcome.
///
/// A pure state machine: its driver carries out the orders and reports the outcomes.
struct CacheSteps: Sendable, Equatable {
    /// The result of a lookup.
    enum Finding: Sendable {
        case fresh, expired, nothing
    }

    /// The next thing to do.
    enum Order: Sendable, Equatable {
        /// Look in the cache, then report ``found(_:)``.
        case lookUp
        /// Send a request, then report ``fetched()`` or ``fetchFailed()``. Cache the response if `writes`.
        case fetch(writes: Bool)
        /// Emit the found value, then report ``emitted()``.
        case emitFound
        /// Emit the network's value, then report ``emitted()``.
        case emitFetched
        /// Pass on the read for a cache refresh, whose outcome is ignored, then report ``handedOver()``.
        case refresh
        /// Fail because the cache has no entry and the policy does not allow the network.
        case failNotInCache
        /// Fail with the network's error.
        case failWithNetworkError
        /// End the read.
        case finish
    }

    let policy: CachePolicy
    private(set) var order: Order
    private var afterEmission = Order.finish

    init(_ policy: CachePolicy) {
        self.policy = policy
        order =
            switch policy {
            case .networkOnlyUpdateCache, .networkFirstCacheIfFailed: .fetch(writes: true)
            case .networkOnlyNoCache: .fetch(writes: false)
            case .cacheOnly, .cacheFirstNetworkIfNotFoundOrExpired, .cacheFirstNetworkAlways, .cacheFirstNetworkRefresh:
                .lookUp
            }
    }

    mutating func found(_ finding: Finding) {
        switch (policy, finding) {
        case (.cacheOnly, .nothing): order = .failNotInCache
        case (.networkFirstCacheIfFailed, .nothing): order = .failWithNetworkError
        case (_, .nothing), (.cacheFirstNetworkIfNotFoundOrExpired, .expired): order = .fetch(writes: true)
        case (.cacheFirstNetworkAlways, _): emitFound(then: .fetch(writes: true))
        case (.cacheFirstNetworkRefresh, _): emitFound(then: .refresh)
        default: emitFound(then: .finish)
        }
    }

    mutating func fetched() {
        order = .emitFetched
        afterEmission = .finish
    }

    mutating func fetchFailed() { order = policy == .networkFirstCacheIfFailed ? .lookUp : .failWithNetworkError }
    mutating func emitted() { order = afterEmission }

    /// Records that the refresh has been passed on.
    mutating func handedOver() { order = .finish }

    private mutating func emitFound(then next: Order) {
        order = .emitFound
        afterEmission = next
    }
}

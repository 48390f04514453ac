/// Where a read looks first, and what it does with what it finds.
///
/// A policy yields one value or two. Streams (``CachedService``) yield both; a plain call returns the last.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// From the network; the answer is kept.
    case networkOnlyUpdateCache
    /// From the network; the answer is not kept.
    case networkOnlyNoCache
    /// From the cache, expired or not; a read that finds nothing fails with ``FeathersError/Code/notInCache``.
    case cacheOnly
    /// From the cache where it is fresh, otherwise from the network. Expired answers are not shown.
    case cacheFirstNetworkIfNotFoundOrExpired
    /// From the cache, expired or not, and then from the network.
    case cacheFirstNetworkAlways
    /// From the cache, expired or not, followed by a refresh in the background; from the network where the cache has no answer.
    case cacheFirstNetworkRefresh
    /// From the network. After any failure except a cancellation, from the cache, expired or not, where it has an answer.
    case networkFirstCacheIfFailed
}

/// The steps of one read under a policy: what to do first, and what next after each outcome.
///
/// A pure state machine: its driver carries out the orders and reports the outcomes.
struct CacheSteps: Sendable, Equatable {
    /// What a look-up found.
    enum Finding: Sendable {
        case fresh, expired, nothing
    }

    /// What to do next.
    enum Order: Sendable, Equatable {
        /// Look into the cache, then report ``found(_:)``.
        case lookUp
        /// Ask the network, then report ``fetched()`` or ``fetchFailed()``; keep the answer if `writes`.
        case fetch(writes: Bool)
        /// Emit the found value, then report ``emitted()``.
        case emitFound
        /// Emit the network's value, then report ``emitted()``.
        case emitFetched
        /// Hand the read over for a refresh of the cache, whose outcome does not count, then report ``handedOver()``.
        case refresh
        /// Fail: the cache has no answer, and the policy allows no other source.
        case failNotInCache
        /// Fail with the network's failure.
        case failWithNetworkError
        /// The read is over.
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
            case .cacheOnly, .cacheFirstNetworkIfNotFoundOrExpired, .cacheFirstNetworkAlways, .cacheFirstNetworkRefresh: .lookUp
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

    /// The refresh has an owner.
    mutating func handedOver() { order = .finish }

    private mutating func emitFound(then next: Order) {
        order = .emitFound
        afterEmission = next
    }
}

/// The steps of one read under a policy: what to do first, and what next after each outcome.
///
/// A pure machine: whoever drives it does what the orders say and reports what came of it.
struct CacheSteps: Sendable, Equatable {
    /// What a look-up found.
    enum Finding: Sendable {
        case fresh, expired, nothing
    }

    /// What is to be done next.
    enum Order: Sendable, Equatable {
        /// Look into the cache, then report ``found(_:)``.
        case lookUp
        /// Ask the network, then report ``fetched()`` or ``fetchFailed()``; keep the answer if `writes`.
        case fetch(writes: Bool)
        /// Give the found value out, then report ``emitted()``.
        case emitFound
        /// Give the network's value out, then report ``emitted()``.
        case emitFetched
        /// See to it that the network is asked for the cache's sake, without telling anybody how it ended, then report ``handedOver()``.
        case refresh
        /// Fail: there is nothing in the cache and nowhere else to look.
        case failNotInCache
        /// Fail with the network's failure.
        case failWithNetworkError
        /// Nothing is left to do.
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

    mutating func fetchFailed() {
        order = policy == .networkFirstCacheIfFailed ? .lookUp : .failWithNetworkError
    }

    mutating func emitted() {
        order = afterEmission
    }

    /// The refresh is somebody's business from here on.
    mutating func handedOver() {
        order = .finish
    }

    private mutating func emitFound(then next: Order) {
        order = .emitFound
        afterEmission = next
    }
}

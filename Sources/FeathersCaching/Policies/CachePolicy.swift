/// Where a read looks first and what it does with what it finds.
///
/// A policy gives one value or two: streams (``CachedService``) give both, a plain call gives the last.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// From the network; the answer is kept.
    case networkOnlyUpdateCache
    /// From the network; nothing is kept.
    case networkOnlyNoCache
    /// From the cache, expired or not; a read that finds nothing fails with ``FeathersError/Code/notInCache``.
    case cacheOnly
    /// From the cache where it is fresh, else from the network; an expired value is not shown.
    case cacheFirstNetworkIfNotFoundOrExpired
    /// From the cache, expired or not, and then from the network.
    case cacheFirstNetworkAlways
    /// From the cache, expired or not, which is then refreshed in the background; from the network where nothing is found.
    case cacheFirstNetworkRefresh
    /// From the network; after any failure but a cancellation from the cache, expired or not, where it has something.
    case networkFirstCacheIfFailed
}

public import FeathersCore

extension Params {
    /// The policy of this call, in place of the service's and the cache's.
    public var cachePolicy: CachePolicy? {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }

    /// How long this call's answer is fresh, in place of what the service and the cache say.
    public var cacheExpiration: CacheExpiration? {
        get { self[ExpirationKey.self] }
        set { self[ExpirationKey.self] = newValue }
    }

    /// Params that say how one call is cached: `messages.get(7, params: .caching(.cacheOnly))`.
    public static func caching(_ policy: CachePolicy, expiration: CacheExpiration? = nil) -> Params {
        var params = Params()
        params.cachePolicy = policy
        params.cacheExpiration = expiration
        return params
    }

    private enum PolicyKey: ParamsKey { typealias Value = CachePolicy }
    private enum ExpirationKey: ParamsKey { typealias Value = CacheExpiration }
}

public import FeathersCore
public import Foundation

/// Options of a cache that apply to all services.
public struct CacheOptions: Sendable {
    /// Whether expired entries are kept, for policies that return them and for conditional requests. If `false`, an
    /// expired entry is removed when it is found, and the read is a miss.
    public var keepsExpired = true

    /// Whether identical reads that are in flight at the same time are coalesced into one request.
    public var sharesRequests = true

    /// The custom methods that change records. Like `create`, `update`, `patch` and `remove`, they invalidate the group
    /// of their service.
    public var changingMethods: Set<ServiceMethod> = []

    /// A part of every key, in addition to ``FeathersApp/identity``, such as a tenant, or a server if several apps
    /// share a storage. It must not contain secrets.
    public var partition: @Sendable (ServiceRequest) -> String = { _ in "" }

    /// Receives errors that are not thrown to a caller: those of the storage and of background refreshes.
    public var onFailure: @Sendable (any Error) -> Void = { _ in }

    /// The time of day, which determines when entries expire.
    package var now: @Sendable () -> Date = { Date() }

    /// Receives the number of reads that wait for another read's request, whenever it increases. For tests.
    var onWaiting: @Sendable (Int) -> Void = { _ in }
}

/// Options of a cache for one service. A property that is nil uses the value for all services.
public struct ServiceCacheOptions: Sendable, Hashable {
    /// The policy of reads.
    public var policy: CachePolicy?
    /// How long an entry stays fresh.
    public var expiration: CacheExpiration?
    /// The group of the service's entries; nil for the service's path. Every change invalidates the whole group. Use
    /// one group for services whose responses contain each other's records.
    public var group: String?

    /// Creates options for one service: the policy of its reads, how long entries stay fresh, and their ``group``.
    public init(policy: CachePolicy? = nil, expiration: CacheExpiration? = nil, group: String? = nil) {
        (self.policy, self.expiration, self.group) = (policy, expiration, group)
    }
}

/// How long a cached entry stays fresh.
public enum CacheExpiration: Sendable, Hashable {
    /// Forever.
    case never
    /// For a duration after the response arrived.
    case after(Duration)
    /// Until a date.
    case date(Date)

    /// Returns when an entry that is stored now expires; nil for never.
    func date(from now: Date) -> Date? {
        switch self {
        case .never: nil
        case .after(let duration): now.addingTimeInterval(duration / .seconds(1))
        case .date(let date): date
        }
    }
}

extension Params {
    /// The policy of this call. It takes precedence over the policies of the service and the cache.
    ///
    /// An endpoint is cached if this, or the options of its path, set a policy, and if it is a `GET` whose response is
    /// JSON or text. For any other endpoint, every policy except ``CachePolicy/networkOnlyNoCache`` is refused.
    public var cachePolicy: CachePolicy? {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }

    /// How long the response to this call stays fresh. It takes precedence over the expirations of the service and the
    /// cache.
    public var cacheExpiration: CacheExpiration? {
        get { self[ExpirationKey.self] }
        set { self[ExpirationKey.self] = newValue }
    }

    /// Returns params that control how one call is cached: `messages.get(7, params: .caching(.cacheOnly))`.
    public static func caching(_ policy: CachePolicy, expiration: CacheExpiration? = nil) -> Params {
        var params = Params()
        params.cachePolicy = policy
        params.cacheExpiration = expiration
        return params
    }

    private enum PolicyKey: ParamsKey { typealias Value = CachePolicy }
    private enum ExpirationKey: ParamsKey { typealias Value = CacheExpiration }
}

extension FeathersError.Code {
    /// The cache has no entry for a read that must not use the network. The code is HTTP's status for `only-if-cached`
    /// (RFC 9111, section 5.2.1.7).
    public static let notInCache: Self = 504
}

extension FeathersError {
    static func notInCache(_ request: ServiceRequest) -> FeathersError {
        var error = FeathersError(
            .notInCache, "The cache has no entry for \(request.subject)", execution: .neverSent)
        error.name = "NotInCache"
        error.className = "not-in-cache"
        return error
    }
}

public import FeathersCore
public import Foundation

/// The options of a cache that apply to all services.
public struct CacheOptions: Sendable {
    /// Whether expired answers are kept, for the policies that show them and for conditional requests. Otherwise an expired answer is removed when it is
    /// found, and the read is a miss.
    public var keepsExpired = true

    /// Whether identical reads that are in flight at the same time share one request.
    public var sharesRequests = true

    /// The custom methods that change records. Like `create`, `update`, `patch` and `remove`, they empty the group of their service.
    public var changingMethods: Set<ServiceMethod> = []

    /// The header fields, besides `Authorization` and `Cookie`, that answers depend on. Case does not matter.
    public var keyHeaders: Set<String> = ["Accept-Language"]

    /// A part of every key, in addition to ``FeathersApp/identity``: a tenant, or the server where several apps share a storage. It must not contain
    /// secrets.
    public var partition: @Sendable (ServiceRequest) -> String = { _ in "" }

    /// Receives the failures that no caller sees: those of the storage, and of refreshes in the background.
    public var onFailure: @Sendable (any Error) -> Void = { _ in }

    /// The time of day, by which answers expire.
    package var now: @Sendable () -> Date = { Date() }

    /// Receives the number of reads that wait for another's request, whenever it grows. Tests wait for it.
    var onWaiting: @Sendable (Int) -> Void = { _ in }
}

/// The options of a cache for one service. A property that is nil is the same as for all services.
public struct ServiceCacheOptions: Sendable, Hashable {
    let policy: CachePolicy?
    let expiration: CacheExpiration?
    /// The group of the service's answers, by default the service's path. Every change empties the whole group. Let services whose answers contain each
    /// other's records share a group.
    public var group: String?

    /// The options of one service: where a read looks for its answer, how long answers stay fresh, and their ``group``.
    public init(policy: CachePolicy? = nil, expiration: CacheExpiration? = nil, group: String? = nil) {
        (self.policy, self.expiration, self.group) = (policy, expiration, group)
    }
}

/// How long a kept answer stays fresh.
public enum CacheExpiration: Sendable, Hashable {
    /// For ever.
    case never
    /// For a time after the response arrived.
    case after(Duration)
    /// Until a date.
    case date(Date)

    /// When an answer that arrives now expires; nil for never.
    func date(from now: Date) -> Date? {
        switch self {
        case .never: nil
        case .after(let duration): now.addingTimeInterval(duration / .seconds(1))
        case .date(let date): date
        }
    }
}

extension Params {
    /// The policy of this call. It takes precedence over those of the service and the cache.
    ///
    /// Endpoints are not cached: in an app with a cache, they refuse every policy except ``CachePolicy/networkOnlyNoCache``.
    public var cachePolicy: CachePolicy? {
        get { self[PolicyKey.self] }
        set { self[PolicyKey.self] = newValue }
    }

    /// How long the answer of this call stays fresh. It takes precedence over the service and the cache.
    public var cacheExpiration: CacheExpiration? {
        get { self[ExpirationKey.self] }
        set { self[ExpirationKey.self] = newValue }
    }

    /// Params for how one call is cached: `messages.get(7, params: .caching(.cacheOnly))`.
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
    /// The cache has no answer for a read that may not ask the network: HTTP's status for `only-if-cached` (RFC 9111, section 5.2.1.7).
    public static let notInCache: Self = 504
}

extension FeathersError {
    static func notInCache(_ method: ServiceMethod, at path: String) -> FeathersError {
        var error = FeathersError(.notInCache, "The cache has no answer for '\(method)' on service '\(path)'", execution: .neverSent)
        error.name = "NotInCache"
        error.className = "not-in-cache"
        return error
    }
}

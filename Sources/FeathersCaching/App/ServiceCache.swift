import FeathersCore
import FeathersSupport

/// Keeps what services answered to `find` and `get`, and answers from it as a policy says.
///
/// ```swift
/// let cache = ServiceCache(MemoryCacheStorage(), policy: .cacheFirstNetworkIfNotFoundOrExpired, expiration: .seconds(300))
/// cache["messages"] = ServiceCacheOptions(policy: .cacheFirstNetworkAlways)
/// app.useCache(cache)
/// ```
///
/// What a call says in its params counts before what its service says here, and that before what is said for all. A change of records through the app,
/// once it succeeded, and every real-time event of one, empties the service's group. One cache serves one app.
public final class ServiceCache: Sendable {
    let policy: CachePolicy
    let expiration: CacheExpiration
    let options: CacheOptions
    let storage: any CacheStorage
    let invalidation = Locked(CacheInvalidation())
    let inFlight: SingleFlight<InFlightRead, JSONValue>
    let background = CacheBackground()
    private let services: Locked<[String: ServiceCacheOptions]>
    /// The names of the header fields that are part of a key, in lower case.
    let keyHeaders: Set<String>

    /// A cache, which serves an app once ``FeathersApp/useCache(_:)`` was called with it.
    /// - Parameters:
    ///   - storage: where the answers are kept.
    ///   - policy: the policy of the calls and services that name none.
    ///   - expiration: how long their answers are fresh.
    ///   - configure: changes what applies to all services alike.
    public init(
        _ storage: any CacheStorage = MemoryCacheStorage(), policy: CachePolicy = .networkOnlyUpdateCache,
        expiration: CacheExpiration = .never,
        configure: (inout CacheOptions) -> Void = { _ in }
    ) {
        var options = CacheOptions()
        configure(&options)
        self.storage = storage
        self.policy = policy
        self.expiration = expiration
        self.options = options
        keyHeaders = Set(options.keyHeaders.map { $0.lowercased() })
        inFlight = SingleFlight(onWaiting: options.onWaiting)
        services = Locked([:])
    }

    /// How the reads of the service at a path are cached; slashes at both ends do not count.
    public subscript(path: String) -> ServiceCacheOptions {
        get { services.withLock { $0[FeathersApp.stripSlashes(path)] } ?? ServiceCacheOptions() }
        set { services.withLock { $0[FeathersApp.stripSlashes(path)] = newValue } }
    }

    /// The options of a path that is known to have no slashes at its ends.
    func serviceOptions(at path: String) -> ServiceCacheOptions? {
        services.withLock { $0[path] }
    }

    func group(ofServiceAt path: String) -> String {
        serviceOptions(at: path)?.group ?? path
    }
}

public import FeathersCore
public import FeathersSupport
public import Foundation

/// Caches the responses of services to `find` and `get`, and of endpoints, and serves reads from the cache according to
/// a policy.
///
/// ```swift
/// let cache = ServiceCache(
///     MemoryCacheStorage(), policy: .cacheFirstNetworkIfNotFoundOrExpired,
///     expiration: .after(.seconds(300)))
/// cache["messages"] = ServiceCacheOptions(policy: .cacheFirstNetworkAlways)
/// app.use(cache: cache)
/// ```
///
/// The params of a call take precedence over the options of its service, which take precedence over the options for all
/// services. Successful writes through the app and real-time events invalidate the group of their service. Use one
/// cache for each app.
public final class ServiceCache: Sendable {
    /// The policy of reads for which neither the call nor its service sets one.
    public let policy: CachePolicy
    /// How long entries stay fresh, by default.
    public let expiration: CacheExpiration
    let cacheOptions: CacheOptions
    let entryStorage: any CacheStorage
    let invalidation = Locked(CacheInvalidation())
    let inFlight: SingleFlight<InFlightRead, ServiceResponse>
    let background = CacheBackground()
    private let optionsByPath: Locked<[String: ServiceCacheOptions]>

    /// Creates a cache with a default policy and expiration for calls and services. Install it with
    /// ``FeathersApp/use(cache:)``.
    public init(
        _ storage: any CacheStorage = MemoryCacheStorage(), policy: CachePolicy = .networkOnlyUpdateCache,
        expiration: CacheExpiration = .never,
        configure: (inout CacheOptions) -> Void = { _ in }
    ) {
        var options = CacheOptions()
        configure(&options)
        (self.entryStorage, self.policy, self.expiration, self.cacheOptions) = (storage, policy, expiration, options)
        inFlight = SingleFlight(onWaiting: options.onWaiting)
        optionsByPath = Locked([:])
    }

    /// The caching options of the service or endpoint at a path. Slashes at both ends are ignored.
    ///
    /// Endpoints are cached only if their options or their calls set a policy. Their group is their path, unless the
    /// options specify a service's, whose writes and events then invalidate their entries.
    public subscript(path: String) -> ServiceCacheOptions {
        get { optionsByPath.withLock { $0[FeathersApp.stripSlashes(path)] } ?? ServiceCacheOptions() }
        set { optionsByPath.withLock { $0[FeathersApp.stripSlashes(path)] = newValue } }
    }

    func serviceOptions(at path: String) -> ServiceCacheOptions? { optionsByPath.withLock { $0[path] } }
    func group(ofServiceAt path: String) -> String { serviceOptions(at: path)?.group ?? path }
}

// MARK: Invalidation

extension ServiceCache {
    /// Invalidates a group. The group of a service is its path, unless its options specify another.
    ///
    /// The group's entries are ignored immediately, and responses that are still in flight are not cached.
    public func invalidate(group: String) async {
        invalidation.withLock { $0.invalidate(group) }
        await removeStale(invalidation.withLock { $0.removals(for: group) })
    }

    /// Invalidates all groups in the same way.
    public func invalidateAll() async {
        invalidation.withLock { $0.invalidateAll() }
        await removeStale(invalidation.withLock { $0.removals })
    }

    /// Removes the entries that expired before a date, by default now.
    /// - Throws: The storage's error.
    public func removeExpired(olderThan date: Date? = nil) async throws {
        try await entryStorage.removeExpired(olderThan: date ?? cacheOptions.now())
    }

    /// Receives changes from events. Invalidation is immediate; stored entries are removed in the background, or before
    /// the next read.
    var eventSink: EventSink {
        EventSink(
            onEvent: { event in
                guard EventName.standard.contains(event.name) else { return }
                let group = self.group(ofServiceAt: event.path)
                self.invalidation.withLock { $0.invalidate(group) }
                self.background.removeStale()
            },
            onGap: { reason in
                // Entries belong to their users, whether signed in or not.
                if case .identityChanged = reason { return }
                // The missed events are unknown.
                self.invalidation.withLock { $0.invalidateAll() }
                self.background.removeStale()
            })
    }
}

// MARK: Storage

extension ServiceCache {
    /// Returns the stored entry for a read; nil if there is none, if it was invalidated, or if the storage fails.
    func storedEntry(_ terms: CachedRead.Terms) async -> CacheEntry? {
        let (key, group) = (terms.key, terms.key.group)
        var stamp = invalidation.withLock { $0.readableStamp(of: group) }
        if stamp == nil {
            await removeStale(invalidation.withLock { $0.removals(for: group) })
            stamp = invalidation.withLock { $0.readableStamp(of: group) }
        }
        guard let stamp, let entry = await entry(for: key) else { return nil }
        let isCurrent = invalidation.withLock { invalidation in
            if invalidation.stamp(of: group) == stamp { return true }
            invalidation.distrust(group)
            return false
        }
        guard isCurrent, holds(terms) else { return nil }
        guard cacheOptions.keepsExpired || !entry.isExpired(at: cacheOptions.now()) else {
            await attempt { try await entryStorage.remove(key) }
            return nil
        }
        return entry
    }

    private func entry(for key: CacheKey) async -> CacheEntry? {
        do {
            return try await entryStorage.entry(for: key)
        } catch {
            cacheOptions.onFailure(error)
            return nil
        }
    }

    /// Stores an entry, unless its group was invalidated meanwhile or the user has changed.
    func keep(_ entry: CacheEntry, for key: CacheKey, _ terms: CachedRead.Terms, _ stamp: CacheInvalidation.Stamp) async
    {
        // Stale entries are removed first. A later removal of them would also remove the new entry.
        await removeStale(invalidation.withLock { $0.removals(for: key.group) })
        // If the removal failed, it will be retried later, so the entry is not stored.
        guard invalidation.withLock({ $0.readableStamp(of: key.group) }) != nil,
            cacheOptions.partition(terms.request) == terms.ownPartition,
            invalidation.withLock({ $0.beginWrite(in: key.group, stamp) })
        else { return }
        let isKept = await attempt { try await entryStorage.set(entry, for: key) }
        // If an entry cannot be replaced, the old one must not be mistaken for the latest.
        if !isKept { await attempt { try await entryStorage.remove(key) } }
        invalidation.withLock { $0.endWrite(in: key.group, stamp) }
    }

    /// Returns the key of a read for a user; nil if the query contains values that JSON cannot represent.
    func key(
        of request: ServiceRequest, group: String, in app: FeathersApp?, as identity: Identity?, _ ownPartition: String
    ) -> CacheKey? {
        var partitions = [identity.map { "@\($0.name)" } ?? "", ownPartition]
        if let read = request.params.endpointRead {
            // An invalid URL fails later, when the request is sent.
            guard let parts = try? read.key(request.params) else { return nil }
            partitions += parts
        }
        return CacheKey(of: request, group: group, in: app, partitions: partitions)
    }

    /// Returns whether the user is still the one for whom the read began.
    func holds(_ terms: CachedRead.Terms) -> Bool {
        (terms.sender.isCurrent || terms.sender.identity == terms.site.app?.identity)
            && cacheOptions.partition(terms.request) == terms.ownPartition
    }

    /// Removes invalidated entries. A removal that fails is retried before the next read.
    func removeStale(_ removals: [CacheInvalidation.Removal]) async {
        for removal in removals {
            let isRemoved = await attempt {
                switch removal {
                case .all: try await entryStorage.removeAll()
                case .group(let group, _): try await entryStorage.remove(group: group)
                }
            }
            if isRemoved { invalidation.withLock { $0.removed(removal) } }
        }
    }

    /// - Returns: Whether the change succeeded. Errors are reported to the options.
    @discardableResult
    private func attempt(_ change: () async throws -> Void) async -> Bool {
        do {
            try await change()
            return true
        } catch {
            cacheOptions.onFailure(error)
            return false
        }
    }
}

// MARK: Installation

extension ServiceCache: SecretHiding {
    public var description: String { "ServiceCache(\(summarize(entryStorage)))" }
}

extension FeathersApp {
    /// Serves the reads of all services from a cache. Successful writes and events invalidate its entries.
    ///
    /// The cache stores the server's responses and is inside all hooks: they run for every call, even for cached
    /// responses. It is outside the sign-in gate, so that entries of a user with a stored token can be read without a
    /// server. Entries are never shared between users.
    public func use(cache: ServiceCache) {
        use(CacheMiddleware(cache: cache))
        observeEvents(with: cache.eventSink)
        use(backgroundWork: { _ in await cache.background.run(for: cache) })
    }
}

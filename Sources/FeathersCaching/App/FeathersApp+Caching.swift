public import FeathersCore

extension FeathersApp {
    /// Has the reads of all services answered by a cache, and changes and events invalidate what it keeps.
    ///
    /// The cache stands where its hook would: hooks added before run around it, for every call; those added after and the services' own
    /// run inside, only for what the cache does not answer, and what they make of a result is what is kept. What a hook inside makes of the *params* is no part of the key.
    public func useCache(_ cache: ServiceCache) {
        var hooks = Hooks(around: [{ context, next in try await cache.surround(&context, next) }])
        hooks.looksAtResults = true
        addHooks(hooks)
        observeEvents(with: cache.eventSink)
        addBackgroundWork { _ in await cache.background.run(for: cache) }
        self[InstalledCache.self] = cache
    }

    /// The cache the app uses.
    public var cache: ServiceCache? { self[InstalledCache.self] }

    private enum InstalledCache: AppSetting { typealias Value = ServiceCache }
}

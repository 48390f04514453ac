import Feathers
import Foundation

// The samples of the articles about mixed transports, traffic and caching, each one as it stands there: `ReadmeTests`
// compares them.

private func mixed(_ url: URL) -> FeathersApp {
    let app = FeathersApp(
        transport: .mixed(realTime: .socketIO(url), rest: .rest(url)) { routes in
            routes["reports"] = .rest
            routes["messages", .find] = .rest
        })
    app.transport?.component(SocketIOTransport.self)?.retryNow()
    return app
}

private func waits(_ url: URL) -> FeathersApp {
    let careful = FeathersApp(
        transport: .mixed(realTime: .socketIO(url), rest: .rest(url)) { routes in
            routes.fallback = .never
        })
    return careful
}

private func traffic(_ app: FeathersApp) async {
    app.use(hooks: .retrying(attempts: 4))
    app.use(hooks: .limiting(to: 6))
    app.use(hooks: .coalescingReads())

    app.use(hooks: .limiting(to: 6, waiting: 200))
    await app.service("reports").use(hooks: .limiting(to: 1, waiting: 10, for: .find))

    app.use(hooks: .circuitBreaker(failures: 5, of: 10, pause: .seconds(10)))

    app.use(
        hooks: .retrying(
            attempts: 5, pause: .milliseconds(200), longestPause: .seconds(20),
            refusedWrites: true))
}

private func later(_ messages: Service<JSONValue>) async throws {
    do {
        try await messages.create(["text": "Hi"])
    } catch let error as FeathersError where error.code == .tooManyRequests {
        print("again in \(error.retryAfter ?? .seconds(1))")
    }
}

private func caching(_ app: FeathersApp, _ folder: URL) -> ServiceCache {
    let storage = LayeredCacheStorage(
        MemoryCacheStorage(), DiskCacheStorage(directory: folder, byteLimit: 50_000_000))
    let cache = ServiceCache(
        storage, policy: .networkFirstCacheIfFailed, expiration: .after(.seconds(3600)))
    cache["messages"] = ServiceCacheOptions(
        policy: .cacheFirstNetworkAlways, expiration: .after(.seconds(60)))
    app.use(cache: cache)

    cache["messages"].group = "chat"
    cache["users"].group = "chat"
    return cache
}

private func cached(_ messages: Service<JSONValue>, seen: (Page<JSONValue>, Bool) -> Void) async throws -> JSONValue {
    func show(_ value: Page<JSONValue>, isOld: Bool) { seen(value, isOld) }

    let results = messages.cached.find(.limit(20), policy: .cacheFirstNetworkAlways)
    for try await result in results {
        switch result.source {
        case .cache(let isExpired): show(result.value, isOld: isExpired)
        case .network(let updated): if updated { show(result.value, isOld: false) }
        }
    }

    let offline = try await messages.get(7, params: .caching(.cacheOnly))
    return offline
}

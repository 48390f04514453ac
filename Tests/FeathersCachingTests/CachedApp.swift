import FeathersCaching
import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

/// An app with a cache, a server whose answer the test sets, and a time of day that stands still.
struct CachedApp: Sendable {
    let app: FeathersApp
    let cache: ServiceCache
    let transport: StubTransport
    let server = Server()
    let directory: TemporaryDirectory
    let time = Locked(Date(timeIntervalSinceReferenceDate: 0))
    let failures = Locked<[String]>([])

    /// What the server answers: a value, an error where it is nil.
    final class Server: Sendable {
        let answer = Locked<JSONValue?>("new")

        func set(_ value: JSONValue?) {
            answer.withLock { $0 = value }
        }
    }

    init(
        _ storage: TestedStorage = .memory, policy: CachePolicy = .networkOnlyUpdateCache,
        expiration: CacheExpiration = .after(.seconds(10)),
        transport: StubTransport? = nil, configure: (inout CacheOptions) -> Void = { _ in }
    ) {
        let directory = TemporaryDirectory()
        self.init(storage.make(in: directory), in: directory, policy, expiration, transport, configure)
    }

    init(
        _ storage: any CacheStorage, in directory: TemporaryDirectory, _ policy: CachePolicy = .networkOnlyUpdateCache,
        _ expiration: CacheExpiration = .after(.seconds(10)), _ transport: StubTransport? = nil,
        _ configure: (inout CacheOptions) -> Void = { _ in }
    ) {
        self.directory = directory
        let (time, failures, server) = (time, failures, server)
        cache = ServiceCache(storage, policy: policy, expiration: expiration) { options in
            options.now = { time.withLock { $0 } }
            options.onFailure = { error in failures.withLock { $0.append("\(error)") } }
            configure(&options)
        }
        self.transport =
            transport
            ?? StubTransport { request in
                guard let answer = server.answer.withLock({ $0 }) else { throw FeathersError(.unavailable, "down") }
                return answer
            }
        app = FeathersApp(transport: self.transport)
        app.use(cache: cache)
    }

    var messages: Service<JSONValue> { app.service("messages") }

    func pass(seconds: Double) {
        time.withLock { $0 += seconds }
    }

    /// What the cache has for the record 1, without asking the server.
    func kept(_ id: Int = 1) async -> CachedResult<JSONValue>? {
        try? await messages.cached.get(id, policy: .cacheOnly).first()
    }
}

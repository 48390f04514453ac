import Feathers
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

@testable import Gateway

/// A gateway in this process, with a cache and a connection of its own.
final class RunningGateway: Sendable {
    let app: FeathersApp
    let port: Int
    private let life: Task<Void, any Error>

    /// Starts a gateway, with a connection to one URL, and calls to another.
    init(over url: URL, rest: URL) async throws {
        let app = FeathersApp(
            transport: .mixed(
                realTime: .socketIO(url) {
                    $0.transports = [.webSocket]
                    $0.reconnection = ReconnectionPolicy(
                        initialDelay: .milliseconds(20), maximumDelay: .milliseconds(200))
                }, rest: .rest(rest)
            ) { $0.standard = .rest })
        let cache = ServiceCache(
            MemoryCacheStorage(), policy: .cacheFirstNetworkIfNotFoundOrExpired, expiration: .after(.seconds(600)))
        app.use(cache: cache)
        var logger = Logger(label: "gateway")
        logger.logLevel = .critical
        let gateway = try Gateway(app: app, publicEvents: ["messages"], logger: logger)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            router: gateway.router(), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            services: gateway.services, onServerRunning: { listening.yield($0.localAddress?.port ?? 0) },
            logger: logger)
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [server], logger: logger))
        let life = Task {
            defer { listening.finish() }
            try await group.run()
        }
        var started = ports.makeAsyncIterator()
        guard let port = await started.next(isolation: #isolation) else {
            try await life.value
            throw CancellationError()
        }
        (self.app, self.port, self.life) = (app, port, life)
        await app.reaches { $0.hasEvents }
    }

    deinit { life.cancel() }

    /// Ends the gateway at once, with its connections.
    func kill() async {
        life.cancel()
        _ = await life.result
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@Suite("The health of an app", .timeLimit(.minutes(10)))
struct HealthTests {
    @Test("follows the connection, with the time each state began")
    func connection() async throws {
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        #expect(app.health.state == .starting && app.health.isAlive && !app.health.isReady)
        var updates = app.healthUpdates().makeAsyncIterator()
        func next(_ state: AppHealth.State) async -> AppHealth? {
            while let health = await updates.next(isolation: #isolation) {
                if health.state == state { return health }
            }
            return nil
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            let ready = try #require(await next(.ready))
            #expect(ready.isReady && ready.connection == .connected(recovered: false))
            transport.drop(.pingTimeout)
            let lost = try #require(await next(.reconnecting))
            #expect(lost.since >= ready.since && !lost.isReady && lost.isAlive && lost.reason.contains("lost"))
            transport.restore(recovered: false)
            let back = try #require(await next(.ready))
            #expect(back.since >= lost.since)
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(app.health.state == .stopped && !app.health.isAlive)
    }

    /// A connection that was lost again before anybody looked.
    private struct ShortConnection: RealTimeTransport {
        let status = ConnectionStatus.connecting(attempt: 2)
        func statusUpdates() -> AsyncStream<ConnectionStatus> {
            AsyncStream { updates in
                for status in [.connecting(attempt: 1), .connected(recovered: false), status] { updates.yield(status) }
            }
        }
        func run() async throws { try await Promise<Void>().value() }
        func connect() async throws {}
        func disconnect() async {}
        func send(_ request: ServiceRequest) async throws -> ServiceResponse { ServiceResponse(.null) }
        func deliver(to sink: EventSink) {}
        func use(connectionSetup setup: ConnectionSetup) {}
    }

    @Test("knows a connection that was lost from one that is yet to stand, however short it stood")
    func short() async throws {
        let app = FeathersApp(transport: ShortConnection())
        #expect(app.health.state == .starting)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            for await health in app.healthUpdates() where health.state == .reconnecting { break }
            group.cancelAll()
        }
    }

    @Test("has failed where the connection is closed for good")
    func closed() async throws {
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        try await app.connect()
        #expect(app.health.isReady)
        transport.drop(.serverDisconnect)
        for await status in app.connectionStatusUpdates() {
            if case .closed = status { break }
        }
        #expect(app.health.state == .failed(.serverDisconnect) && !app.health.isAlive)
        #expect(app.health.reason.contains("io server disconnect"))
    }

    @Test("without a connection is ready once the app is set up, and not before")
    func setUp() async throws {
        let app = FeathersApp()
        app.use(setUp: [
            { app, next in
                #expect(app.health.state == .starting)
                try await next()
            }
        ])
        try await withFeathersApp(app) { app in #expect(app.health.isReady && app.health.connection == nil) }
        #expect(app.health.state == .stopped)
    }
}

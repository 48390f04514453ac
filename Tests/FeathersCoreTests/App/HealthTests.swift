import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCore

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
        transport.drop(.refused("no"))
        for await status in app.connectionStatusUpdates() {
            if case .closed = status { break }
        }
        #expect(app.health.state == .failed(.refused("no")) && !app.health.isAlive)
        #expect(app.health.reason.contains("connect_error"))
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

    @Test("over REST follows the last call: unreachable after one that missed the server, and ready after the next")
    func lastCall() async throws {
        let unreachable = FeathersError(.unavailable, "No server listens", execution: .neverSent)
        let transport = StubTransport()
        transport.stub("messages", .find, with: .cycle([.error(unreachable), .value([]), .error(unreachable)]))
        transport.stub("messages", .get, with: .error(FeathersError(.notFound, "None")))
        let app = FeathersApp(transport: transport)
        let messages = app.service("messages")
        try await withFeathersApp(app) { app in
            var updates = app.healthUpdates().makeAsyncIterator()
            #expect(await updates.next(isolation: #isolation)?.isReady == true)
            _ = try? await messages.find()
            let lost = try #require(await updates.next(isolation: #isolation))
            #expect(lost.state == .unreachable && !lost.isReady && lost.isAlive)
            #expect(lost.reason.contains("did not reach"))
            #expect(app.metrics.samples.first?.value == 0)
            _ = try await messages.find()
            #expect(await updates.next(isolation: #isolation)?.state == .ready)
            _ = try? await messages.find()
            #expect(app.health.state == .unreachable)
            // An error of the server is a response.
            _ = try? await messages.get(1)
            #expect(app.health.state == .ready)
        }
        #expect(app.health.state == .stopped)
    }

    @Test("over REST says nothing of calls over another transport, or of a call that timed out after it was sent")
    func otherCalls() async throws {
        let app = FeathersApp(
            transport: StubTransport { _ in throw FeathersError(.timeout, "Slow", execution: .mayHaveExecuted) })
        let other = StubTransport { _ in throw FeathersError(.unavailable, "Away", execution: .neverSent) }
        try await app.use(other, at: "other")
        try await withFeathersApp(app) { app in
            _ = try? await app.service("other").find()
            _ = try? await app.service("messages").find()
            #expect(app.health.isReady)
        }
    }

    @Test("forgets a call that missed the server after ten seconds, because an app that isn't ready may get no calls")
    func expiry() {
        let clock = ManualClock()
        let reach = CallReach(clock: clock)
        let away = FeathersError(.unavailable, "Away", execution: .neverSent)
        reach.succeeded()
        #expect(!reach.isUnreachable && reach.health.lastFailure == nil)
        reach.failed(away)
        #expect(reach.isUnreachable && !reach.health.isReachable)
        clock.advance(by: .seconds(9))
        #expect(reach.isUnreachable)
        clock.advance(by: .seconds(1))
        #expect(!reach.isUnreachable)
        reach.failed(away)
        #expect(reach.isUnreachable)
        reach.succeeded()
        #expect(reach.health.isReachable && reach.health.lastFailure?.reason == "Unavailable: Away")
    }
}

import Feathers
import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("A mixed transport", .timeLimit(.minutes(10)))
struct MixedTransportTests {
    @Test("Calls go the way of their route, events come over the connection")
    func routes() async throws {
        let ways = StubbedWays {
            $0["reports"] = .rest
            $0["messages", .get] = .rest
        }
        try await ways.app.connect()
        let messages = ways.app.service("messages")
        #expect(try await messages.rawFind() == "socket")
        #expect(try await messages.get(1) == "rest")
        #expect(try await ways.app.service("reports").create([:]) == "rest")

        let created = messages.events(.created)
        ways.socket.emit(.created, of: "messages", ["id": 7])
        #expect(try await created.first() == ["id": 7])
    }

    @Test("Without a connection reads go over REST, and the others wait for it")
    func withoutConnection() async throws {
        let ways = StubbedWays()
        let messages = ways.app.service("messages")
        #expect(try await messages.rawFind() == "rest")
        #expect(try await messages.get(1) == "rest")
        async let created = messages.create([:])
        try await ways.socket.waitForWaitingCalls(1)
        #expect(ways.app.metrics.transport == TransportLoad(waiting: 1))
        try await ways.app.connect()
        #expect(try await created == "socket")
        #expect(try await messages.rawFind() == "socket")
        #expect(ways.rest.requests.map(\.method) == [.find, .get])
    }

    @Test(
        "REST reads while a connection is prepared are followed by a gap once events come, also for later connections"
    )
    func readWhilePrepared() async throws {
        let ways = StubbedWays()
        let gates = Locked([Promise<Void>(), Promise<Void>()])
        ways.socket.use(
            connectionSetup: ConnectionSetup(prepare: { _ in try? await gates.withLock { $0.removeFirst() }.value() }))
        gates.withLock { _ = $0[0].resolve(()) }
        try await ways.app.connect()
        await ways.app.disconnect()
        var deliveries = ways.app.service("messages").eventDeliveries().makeAsyncIterator()
        let opened = gates.withLock { $0[0] }
        async let connected: Void = ways.app.connect()
        guard case .gap = await deliveries.next() else {
            Issue.record("The second connection begins without a gap")
            return
        }
        #expect(try await ways.app.service("messages").rawFind() == "rest")
        opened.resolve(())
        try await connected
        guard case .gap(let gap) = await deliveries.next(), case .reconnected = gap.reason else {
            Issue.record("What has changed between the read and the end of the preparation stays unknown")
            return
        }
        await ways.app.disconnect()
    }

    @Test("Without a connection writes go over REST where that is asked for")
    func unsent() async throws {
        let ways = StubbedWays { $0.fallback = .unsent }
        #expect(try await ways.app.service("messages").create([:]) == "rest")
        try await ways.app.connect()
        #expect(try await ways.app.service("messages").create([:]) == "socket")
    }

    @Test("Without a connection reads wait too where that is asked for")
    func never() async throws {
        let ways = StubbedWays { $0.fallback = .never }
        async let found = ways.app.service("messages").rawFind()
        try await ways.socket.waitForWaitingCalls(1)
        try await ways.app.connect()
        #expect(try await found == "socket")
        #expect(ways.rest.requests.isEmpty)
    }

    @Test("A read whose connection is lost is asked over REST, with what is left of its time")
    func lostRead() async throws {
        let clock = ManualClock()
        let ways = StubbedWays(clock: clock)
        ways.socket.stub("messages", .get, with: .unanswered)
        try await ways.app.connect()
        async let got = ways.app.service("messages").get(1, params: Params(timeout: .seconds(60)))
        try await ways.socket.waitForRequest(number: 1)
        clock.advance(by: .seconds(20))
        ways.socket.drop()
        #expect(try await got == "rest")
        #expect(ways.rest.requests.map(\.params.timeout) == [.seconds(40)])
    }

    @Test("A write whose connection is lost is never made again", arguments: [TransportRoutes.Fallback.reads, .unsent])
    func lostWrite(fallback: TransportRoutes.Fallback) async throws {
        let ways = StubbedWays { $0.fallback = fallback }
        ways.socket.stub("messages", .patch, with: .unanswered)
        try await ways.app.connect()
        let patched = Task { try await ways.app.service("messages").patch(1, with: [:]) }
        try await ways.socket.waitForRequest(number: 1)
        ways.socket.drop()
        let error = await #expect(throws: FeathersError.self) { try await patched.value }
        #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
        #expect(ways.rest.requests.isEmpty)
    }

    @Test("What the server answered, also an error, is the answer")
    func answered() async throws {
        let ways = StubbedWays()
        ways.socket.stub("messages", .find, with: .error(FeathersError(.unavailable, "Down for maintenance")))
        try await ways.app.connect()
        await #expect { try await ways.app.service("messages").find() } throws: { FeathersError.Code.unavailable ~= $0 }
        #expect(ways.rest.requests.isEmpty)
    }

    @Test("Its parts are reached through it: endpoints go over its REST transport")
    func components() async throws {
        let client = StubHTTPClient()
        client.stub("/health", "GET", with: .json(["ok": true]))
        let url = try #require(URL(string: "http://localhost:3030"))
        let app = FeathersApp(
            transport: .mixed(realTime: StubRealTimeTransport(), rest: .rest(url, httpClient: client)))
        let health = try await app.request(Endpoint<Bool>(.get, "health", rootKeys: ["ok"]))
        #expect(health)
        #expect(app.transport?.component(StubRealTimeTransport.self) != nil)
        #expect(app.transport?.component(MixedTransport.self) != nil)
        #expect(app.transport?.component(StubTransport.self) == nil)
    }

    @Test("Status and life of the connection are the app's")
    func life() async throws {
        let ways = StubbedWays()
        #expect(ways.app.connectionStatus == .offline)
        try await withFeathersApp(ways.app) { app in
            try await ways.socket.waitForStatus { $0 == .connected(recovered: false) }
            #expect(app.connectionStatus == .connected(recovered: false))
        }
        #expect(ways.app.connectionStatus == .offline)
    }
}

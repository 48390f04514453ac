import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Authentication of connections", .timeLimit(.minutes(10)))
struct ConnectionAuthenticationTests {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let clock = ManualClock()
    private let storage = InMemoryTokenStorage()

    /// An app whose tokens end 100 s after the start.
    private func app(_ connections: SampleConnections, _ configure: (inout AuthenticationOptions) -> Void = { _ in })
        throws -> FeathersApp
    {
        let token = try SampleToken.make(issuedAt: 1_700_000_000, lifetime: 100)
        connections.server.change { $0.token = token }
        let app = FeathersApp(transport: connections)
        try app.use(
            authentication: AuthenticationOptions(storage: storage, refresh: .service("refresh-tokens")) {
                ($0.clock, $0.date) = (clock, { [start] in start })
                configure(&$0)
            })
        return app
    }

    @Test("The token is told first on every connection, ahead of the calls that wait")
    func first() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await connections.connected { try await app.authenticate(.local(email: "a", password: "p")) }
        let calls = (0..<5).map { _ in Task { try await app.service("messages").rawFind() } }
        try await connections.connected { for call in calls { _ = try await call.value } }
        try await connections.connected { _ = try await app.service("messages").rawFind() }
        let waited = Array(repeating: "messages", count: 5)
        let wire: [String] = ["authentication", "authentication"] + waited + ["authentication", "messages"]
        #expect(connections.wire == wire)
        #expect(connections.server.requests(to: "authentication").last?.data?["strategy"] == "jwt")
    }

    @Test("A stored token that calls already wait for is told once, ahead of them", arguments: [false, true])
    func takeOver(isRunning: Bool) async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await storage.store("stored", for: "feathers-jwt")
        let updates = app.authenticationUpdates()
        @Sendable func body() async throws {
            let calls = (0..<20).map { _ in Task { try await app.service("messages").rawFind() } }
            for await state in updates where state == .authenticating { break }
            try await connections.connected { for call in calls { _ = try await call.value } }
        }
        if isRunning { try await withFeathersApp(app) { _ in try await body() } } else { try await body() }
        #expect(connections.wire.first == "authentication")
        #expect(connections.server.requests(to: "authentication").count == 1)
        #expect(connections.server.requests(to: "messages").count == 20)
    }

    @Test(
        "A connection is not used before a sign-in in progress has been made over it, whatever its hooks do meanwhile")
    func slowHook() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await storage.store("stored", for: "feathers-jwt")
        let entered = Promise<Void>()
        let gate = Promise<Void>()
        let hold: Hook = { context in
            entered.resolve(())
            try await gate.value()
            // Part of the sign-in, so that it does not wait for the connection either.
            _ = try await context.app.service("profiles").rawFind()
        }
        await app.service("authentication").use(hooks: Hooks(before: [.create: [hold]]))
        let call = Task { try await app.service("messages").rawFind() }
        try await entered.value()
        async let connected: Void = connections.connected { _ = try await call.value }
        #expect(connections.wire.isEmpty)
        gate.resolve(())
        try await connected
        #expect(connections.wire == ["profiles", "authentication", "messages"])
    }

    @Test("A restore that fails for a passing reason is not repeated while the connection is prepared")
    func failingRestore() async throws {
        let connections = SampleConnections(SampleServer(.init(failure: FeathersError(.generalError, "down"))))
        let app = try app(connections)
        connections.server.change { $0.failure = FeathersError(.generalError, "down") }
        try await storage.store("stored", for: "feathers-jwt")
        try await connections.connected {
            #expect(connections.server.requests(to: "authentication").count == 1)
            connections.server.change { $0.failure = nil }
            _ = try await app.service("messages").rawFind()
        }
        #expect(connections.wire == ["authentication", "authentication", "messages"])
    }

    @Test("A token is refreshed beside the calls, and told over the same connection")
    func refresh() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await connections.connected {
            let first = try await app.authenticate(.local(email: "a", password: "p"))
            try await clock.waitForSleepers(1)
            var updates = app.authenticationUpdates().makeAsyncIterator()
            #expect(await updates.next() == .signedIn(first))
            clock.advance(by: .seconds(80))
            #expect(await updates.next()?.result?.accessToken == "again")
            try await connections.server.transport.waitForRequest(number: 3)
            #expect(connections.wire == ["authentication", "refresh-tokens", "authentication"])
            #expect(
                connections.server.requests(to: "authentication").last?.data == [
                    "strategy": "jwt", "accessToken": "again",
                ])
        }
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r-again")
    }

    @Test("A token that ended while there was no connection is refreshed before anything else")
    func refreshFirst() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await connections.connected { try await app.authenticate(.local(email: "a", password: "p")) }
        clock.advance(by: .seconds(200))
        try await connections.connected { _ = try await app.service("messages").rawFind() }
        #expect(connections.wire == ["authentication", "refresh-tokens", "authentication", "messages"])
    }

    @Test("A token the server refuses on a connection ends the sign-in where it can not be refreshed")
    func refused() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections) { $0.refresh = .none }
        try await connections.connected { try await app.authenticate(.local(email: "a", password: "p")) }
        connections.server.change { $0.failure = FeathersError(.notAuthenticated, "jwt expired") }
        try await connections.connected {
            #expect(app.authentication == .expired)
            #expect(try await storage.token(for: "feathers-jwt") == nil)
            _ = try await app.service("messages").rawFind()
        }
        #expect(connections.wire == ["authentication", "authentication", "messages"])
    }

    @Test("A server that can not judge the token leaves the sign-in alone; calls wait for the next try")
    func unjudged() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await connections.connected { try await app.authenticate(.local(email: "a", password: "p")) }
        connections.server.change { $0.failure = FeathersError(.generalError, "down") }
        try await connections.connected {
            #expect(app.authentication.result != nil)
            // It is tried again beside the calls, after a pause.
            try await clock.waitForSleepers(1)
            #expect(await failure { try await app.service("messages").rawFind() }?.message == "down")
            connections.server.change { $0.failure = nil }
            _ = try await app.service("messages").rawFind()
        }
        #expect(connections.wire.filter { $0 == "messages" }.count == 1)
    }

    @Test("A token is not announced for a user who has left by the time it would be sent")
    func leftBeforeAnnouncement() async throws {
        let connections = SampleConnections(SampleServer())
        let app = try app(connections)
        try await connections.connected { try await app.authenticate(.local(email: "a", password: "p")) }
        connections.beforeSending.withLock { $0 = { try await app.logOut() } }
        try await connections.connected { _ = try await app.service("messages").rawFind() }
        #expect(connections.wire == ["authentication", "messages"])
    }

    @Test("Headers carry the token on request; the attempt after a refusal goes without, and a second refusal is final")
    func handshake() async throws {
        let connections = SampleConnections(SampleServer())
        try await storage.store("stored", for: "feathers-jwt")
        let app = try app(connections) { $0.authenticatesHandshake = true }
        #expect(try await connections.headers() == ["Authorization": "Bearer stored"])
        #expect(await connections.reconnects(after: .refused("jwt expired")) == true)
        #expect(try await connections.headers() == [:])
        #expect(await connections.reconnects(after: .refused("no")) == false)
        try await connections.connected {
            _ = try await app.service("messages").rawFind()
            // It stood, so that the token may be shown again.
            #expect(try await connections.headers() == ["Authorization": "Bearer stored"])
            try await app.logOut()
        }
        #expect(try await connections.headers() == [:])
    }

    @Test("A token of the handshake is not withdrawn while the server cannot judge it")
    func handshakeUnjudged() async throws {
        let connections = SampleConnections(SampleServer(.init(failure: FeathersError(.generalError, "down"))))
        let app = try app(connections) { $0.authenticatesHandshake = true }
        try await storage.store("stored", for: "feathers-jwt")
        try await connections.connected {
            connections.server.change { $0.failure = nil }
            _ = try await app.service("messages").rawFind()
        }
        #expect(connections.server.requests(to: "authentication").allSatisfy { $0.method == .create })
    }

    @Test("Without being asked to, headers carry nothing, and a refusal is final")
    func noHandshake() async throws {
        let connections = SampleConnections(SampleServer())
        try await storage.store("stored", for: "feathers-jwt")
        _ = try app(connections)
        #expect(try await connections.headers() == [:])
        #expect(await connections.reconnects(after: .refused("no")) == false)
    }

    @Test("App, transport and storage are released after a life with connections and refreshes")
    func release() async throws {
        weak var released: FeathersApp?
        weak var transport: SampleConnections?
        do {
            let connections = SampleConnections(SampleServer())
            let app = try app(connections)
            try await withFeathersApp(app) { app in
                try await connections.connected {
                    try await app.authenticate(.local(email: "a", password: "p"))
                    try await clock.waitForSleepers(1)
                    clock.advance(by: .seconds(80))
                    try await connections.server.transport.waitForRequest(number: 3)
                }
            }
            (released, transport) = (app, connections)
        }
        #expect(released == nil)
        #expect(transport == nil)
    }
}

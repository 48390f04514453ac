import Feathers
import FeathersSupport
import FeathersTesting
import Testing

/// Apps with an account of their own that start before their server.
@Suite(.timeLimit(.minutes(10))) struct SignInAtStartTests {
    private static let away = FeathersError(.unavailable, "No server listens", execution: .neverSent)
    private let account = AuthenticationCredentials.local(email: "reports@example.com", password: "secret")
    private let clock = ManualClock()

    private func app(_ server: SampleServer, token: String? = nil) throws -> FeathersApp {
        let storage = InMemoryTokenStorage(token.map { ["feathers-jwt": $0] } ?? [:])
        return try FeathersApp.sample(server, storage: storage) { [clock] in $0.clock = clock }
    }

    private func strategies(_ server: SampleServer) -> [String?] {
        server.requests(to: "authentication").map { $0.data?["strategy"]?.string }
    }

    @Test func `A sign-in with credentials is tried again until the server is reachable`() async throws {
        let server = SampleServer(.init(failure: Self.away))
        let app = try app(server)
        let reports = Locked<[String]>([])
        app.use(
            diagnostics: .closure { event in reports.withLock { $0.append(event.message) } },
            levels: DiagnosticLevels(nil, [.authentication: .warning]))
        async let result = app.reauthenticate(or: account)
        for attempt in 1...8 {
            try await server.transport.waitForRequest(number: attempt)
            try await clock.waitForSleepers(1)
            if attempt == 8 { server.change { $0.failure = nil } }
            clock.advance(by: .seconds(30))
        }
        #expect(try await result.accessToken == "issued" && app.authentication.result != nil)
        #expect(strategies(server) == Array(repeating: "local", count: 9))
        let reported = reports.withLock { $0 }
        #expect(reported.count == 8 && reported.allSatisfy { $0.contains("No server listens") })
        #expect(!reported.contains { $0.contains("secret") })
    }

    @Test func `The first delay is at most half a second, and at least what the server requests`() async throws {
        var busy = FeathersError(.tooManyRequests, "Busy")
        busy.retryAfter = .seconds(60)
        let server = SampleServer(.init(failure: Self.away))
        let app = try app(server)
        async let result = app.reauthenticate(or: account)
        try await server.transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        server.change { [busy] in $0.failure = busy }
        clock.advance(by: .milliseconds(500))
        try await server.transport.waitForRequest(number: 2)
        try await clock.waitForSleepers(1)
        server.change { $0.failure = nil }
        clock.advance(by: .seconds(59))
        try await clock.waitForSleepers(1)
        #expect(strategies(server).count == 2)
        clock.advance(by: .seconds(1))
        _ = try await result
    }

    @Test func `The stored token comes first, and credentials follow only if the server refuses it`() async throws {
        let server = SampleServer(.init(failure: Self.away))
        let app = try app(server, token: "stored")
        async let result = app.reauthenticate(or: account)
        try await server.transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        server.change { $0.failure = nil }
        clock.advance(by: .milliseconds(500))
        #expect(try await result.accessToken == "stored" && strategies(server) == ["jwt", "jwt"])

        let refusing = SampleServer(.init(failure: FeathersError(.notAuthenticated, "jwt expired")))
        let other = try self.app(refusing, token: "stored")
        await #expect(throws: FeathersError.self) { try await other.reauthenticate(or: account) }
        #expect(strategies(refusing) == ["jwt", "local"])
    }

    @Test(arguments: [FeathersError.Code.notAuthenticated, .badRequest, .generalError])
    func `Anything but an unavailable or busy server ends it at once`(_ code: FeathersError.Code) async throws {
        let server = SampleServer(.init(failure: FeathersError(code, "Wrong password")))
        let app = try app(server)
        await #expect { try await app.reauthenticate(or: account) } throws: { ($0 as? FeathersError)?.code == code }
        #expect(strategies(server) == ["local"])
    }

    @Test func `A shutdown and a cancellation end it`() async throws {
        let server = SampleServer(.init(failure: Self.away))
        let app = try app(server)
        let account = account
        let shutDown = Task { try await app.reauthenticate(or: account) }
        try await clock.waitForSleepers(1)
        await app.shutDown(within: .zero)
        await #expect { try await shutDown.value } throws: { "\($0)".contains("No server listens") }

        let other = try self.app(server)
        let task = Task { try await other.reauthenticate(or: account) }
        try await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func `Over a connection that is not open yet, it waits too`() async throws {
        let transport = StubRealTimeTransport(callTimeout: .seconds(5), clock: clock)
        transport.stub("authentication", .create, with: .value(["accessToken": "issued", "user": ["id": 1]]))
        transport.drop()
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions { [clock] in $0.clock = clock })
        try await withFeathersApp(app) { app in
            async let result = app.reauthenticate(or: account)
            try await transport.waitForWaitingCalls(1)
            transport.restore()
            #expect(try await result.accessToken == "issued")
        }
    }
}

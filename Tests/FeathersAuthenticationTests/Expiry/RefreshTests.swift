import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Refreshing over HTTP", .timeLimit(.minutes(10)))
struct RefreshTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    /// A token that ends 100 s after the start, to be refreshed 20 s before.
    private static func token() throws -> String { try SampleToken.make(issuedAt: 1_700_000_000, lifetime: 100) }

    private func signedIn(
        _ server: SampleServer, _ refresh: TokenRefresh = .service("refresh-tokens"),
        storage: any TokenStorage = InMemoryTokenStorage(),
        clock: ManualClock = ManualClock()
    ) async throws -> FeathersApp {
        let token = try Self.token()
        server.change { $0.token = token }
        let app = try FeathersApp.sample(server, storage: storage) {
            ($0.refresh, $0.clock) = (refresh, clock)
            $0.date = { Self.start }
        }
        try await app.authenticate(.local(email: "a", password: "p"))
        return app
    }

    @Test("Calls near the end wait for one refresh, and go out with the new token")
    func pull() async throws {
        let server = SampleServer()
        let storage = InMemoryTokenStorage()
        let clock = ManualClock()
        let app = try await signedIn(server, storage: storage, clock: clock)
        clock.advance(by: .seconds(79))
        #expect(try await app.service("messages").rawFind()["authorization"] == .string("Bearer \(try Self.token())"))
        #expect(server.requests(to: "refresh-tokens").isEmpty)
        clock.advance(by: .seconds(1))
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<100 { group.addTask { try await app.service("messages").rawFind() } }
            for try await answer in group { #expect(answer["authorization"] == "Bearer again") }
        }
        #expect(server.requests(to: "refresh-tokens").map(\.data) == [["refreshToken": "r0"]])
        #expect(try await storage.token(for: "feathers-jwt") == "again")
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r-again")
        #expect(app.authentication.result?.user?["email"] == "alice@example.com")
    }

    @Test("A refused call leads to one refresh and one more try, for any number of callers")
    func replay() async throws {
        let server = SampleServer()
        let app = try await signedIn(server)
        let token = try Self.token()
        server.change { $0.rejected = [token] }
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<50 { group.addTask { try await app.service("messages").create(["a": 1]) } }
            for try await answer in group { #expect(answer["authorization"] == "Bearer again") }
        }
        #expect(server.requests(to: "refresh-tokens").count == 1)
        #expect(server.requests(to: "messages").count <= 100)
    }

    @Test("A call under way gets its refresh also while the app shuts down")
    func shuttingDown() async throws {
        let server = SampleServer(holding: ["messages"])
        // Running, so that the refresh is nobody's call but the background's.
        try await withFeathersApp(try await signedIn(server)) { app in
            let token = try Self.token()
            server.change { $0.rejected = [token] }
            async let answer = app.service("messages").rawFind()
            _ = try await server.transport.waitForRequest(number: 2)
            app.beginShutdown(within: .seconds(60))
            server.gates["messages"]?.open()
            #expect(try await answer["authorization"] == "Bearer again")
            #expect(await failure { try await app.service("messages").rawFind() }?.execution == .neverSent)
        }
    }

    @Test("A call that is refused with the new token too fails, and is not tried again")
    func noLoop() async throws {
        let server = SampleServer()
        let app = try await signedIn(server)
        let token = try Self.token()
        server.change { $0.rejected = [token, "again"] }
        #expect(await failure { try await app.service("messages").rawFind() }?.code == .notAuthenticated)
        #expect(server.requests(to: "messages").count == 2)
        #expect(server.requests(to: "refresh-tokens").count == 1)
        #expect(app.authentication.result?.accessToken == "again")
    }

    @Test(
        "Without a way to refresh, a refused call ends the sign-in",
        arguments: [TokenRefresh.none, .function { _ in throw FeathersError(.forbidden, "no") }])
    func expired(_ refresh: TokenRefresh) async throws {
        let server = SampleServer()
        let storage = InMemoryTokenStorage()
        let app = try await signedIn(server, refresh, storage: storage)
        var updates = app.authenticationUpdates().makeAsyncIterator()
        _ = await updates.next()
        let token = try Self.token()
        server.change { $0.rejected = [token] }
        #expect(await failure { try await app.service("messages").rawFind() }?.message == "jwt expired")
        #expect(await updates.next() == .expired)
        #expect(try await storage.token(for: "feathers-jwt") == nil)
        #expect(try await storage.token(for: "feathers-jwt-refresh") == nil)
        #expect(try await app.service("messages").rawFind()["authorization"] == .null)
    }

    @Test("A refresh that fails for a reason that may pass leaves the token in use, and is tried again")
    func postponed() async throws {
        let server = SampleServer(.init(refreshFailure: FeathersError(.unavailable, "down")))
        let clock = ManualClock()
        let app = try await signedIn(server, clock: clock)
        clock.advance(by: .seconds(80))
        let present = JSONValue.string("Bearer \(try Self.token())")
        for _ in 0..<3 { #expect(try await app.service("messages").rawFind()["authorization"] == present) }
        #expect(server.requests(to: "refresh-tokens").count == 1)
        server.change { $0.refreshFailure = nil }
        clock.advance(by: .seconds(1))
        #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer again")
    }

    @Test("A function gives tokens, and is asked one at a time with what is there")
    func function() async throws {
        let server = SampleServer()
        let clock = ManualClock()
        let asked = Locked<[String?]>([])
        let app = try await signedIn(
            server,
            .function { result in
                asked.withLock { $0.append(result.refreshToken) }
                return .tokens(AuthenticationTokens(accessToken: "made"))
            }, clock: clock)
        clock.advance(by: .seconds(90))
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<20 { group.addTask { try await app.service("messages").rawFind() } }
            for try await answer in group { #expect(answer["authorization"] == "Bearer made") }
        }
        #expect(asked.withLock { $0 } == ["r0"])
        #expect(app.authentication.result?.refreshToken == "r0")
    }

    @Test("A function gives credentials, as a service account does, and may make calls of its own")
    func credentials() async throws {
        let server = SampleServer()
        let clock = ManualClock()
        let reference = WeakApp()
        let app = try await signedIn(
            server,
            .function { _ in
                _ = try await reference.app?.service("secrets").rawFind()
                return .credentials(.local(email: "b", password: "q"))
            }, clock: clock)
        reference.app = app
        server.change { $0.token = "second" }
        clock.advance(by: .seconds(90))
        #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer second")
        #expect(server.requests(to: "authentication").map { $0.data?["email"] } == ["a", "b"])
        #expect(server.requests(to: "secrets").count == 1)
    }

    @Test("A function that takes too long counts as failed, and the present token serves on")
    func slow() async throws {
        let server = SampleServer()
        let clock = ManualClock()
        let never = ClosedGate()
        let app = try await signedIn(
            server,
            .function { _ in
                try await never.pass()
                return .tokens(AuthenticationTokens(accessToken: "late"))
            }, clock: clock)
        clock.advance(by: .seconds(85))
        async let answer = app.service("messages").rawFind()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        #expect(try await answer["authorization"] == .string("Bearer \(try Self.token())"))
    }

    @Test("A stored token that has ended is refreshed with the stored refresh token")
    func restore() async throws {
        let storage = InMemoryTokenStorage(["feathers-jwt": "old", "feathers-jwt-refresh": "r9"])
        let transport = StubTransport { request in
            switch (request.path, request.data?["accessToken"]) {
            case ("authentication", "old"): throw FeathersError(.notAuthenticated, "jwt expired")
            case ("authentication", let token): return ["accessToken": token ?? .null, "user": ["id": 1]]
            case ("refresh-tokens", _): return ["accessToken": "new", "refreshToken": "r10"]
            default: return ["authorization": .string(request.params.headers["Authorization"] ?? "")]
            }
        }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: storage, refresh: .service("refresh-tokens")))
        #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer new")
        #expect(transport.requests.map(\.path) == ["authentication", "refresh-tokens", "authentication", "messages"])
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r10")
        #expect(app.authentication.result?.refreshToken == "r10")
    }

    private final class WeakApp: Sendable {
        private let reference = Locked<FeathersApp?>(nil)

        var app: FeathersApp? {
            get { reference.withLock { $0 } }
            set { reference.withLock { $0 = newValue } }
        }
    }
}

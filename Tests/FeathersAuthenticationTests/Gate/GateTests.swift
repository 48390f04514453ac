import FeathersAuthentication
import FeathersCore
import FeathersTesting
import TestBackend
import Testing

@Suite("The gate", .timeLimit(.minutes(10)))
struct GateTests {
    private func stored(_ token: String = "stored") -> InMemoryTokenStorage {
        InMemoryTokenStorage(["feathers-jwt": token])
    }

    @Test("A thousand calls at once with a stored token cause exactly one sign-in, and all go out with it")
    func thousand() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: stored())
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<1000 { group.addTask { try await app.service("messages").rawFind() } }
            try await server.transport.waitForRequest(number: 1)
            #expect(app.authentication == .authenticating)
            server.gates["authentication"]?.open()
            for try await answer in group { #expect(answer["authorization"] == "Bearer stored") }
        }
        #expect(server.requests(to: "authentication").count == 1)
        #expect(server.requests(to: "authentication").first?.data == ["strategy": "jwt", "accessToken": "stored"])
        #expect(server.requests(to: "messages").count == 1000)
        #expect(app.authentication.result?.accessToken == "stored")
    }

    @Test("The same in an app that runs")
    func thousandRunning() async throws {
        let server = SampleServer(holding: ["authentication"])
        try await withFeathersApp(try FeathersApp.sample(server, storage: stored())) { app in
            try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for _ in 0..<1000 { group.addTask { try await app.service("messages").rawFind() } }
                try await server.transport.waitForRequest(number: 1)
                server.gates["authentication"]?.open()
                for try await answer in group { #expect(answer["authorization"] == "Bearer stored") }
            }
        }
        #expect(server.requests(to: "authentication").count == 1)
    }

    @Test("Without a stored token calls go out as nobody's, and nobody asks again")
    func nothingStored() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server)
        for _ in 0..<3 { #expect(try await app.service("messages").rawFind()["authorization"] == .null) }
        #expect(server.requests(to: "authentication").isEmpty)
        #expect(app.authentication == .signedOut)
    }

    @Test("The authentication service is never held up, whatever its method")
    func exempt() async throws {
        let server = SampleServer(holding: ["messages"])
        let app = try FeathersApp.sample(server, storage: stored())
        _ = try await app.service("authentication").create(["strategy": "local"])
        _ = try await app.service("/authentication/").call("hello")
        _ = try await app.service("authentication").get(1)
        #expect(server.transport.requests.map(\.path) == ["authentication", "authentication", "authentication"])
        #expect(app.authentication == .signedOut)
    }

    @Test("Calls wait for a sign-in under way and fail with it")
    func failing() async throws {
        let server = SampleServer(
            holding: ["authentication"], .init(failure: FeathersError(.notAuthenticated, "Invalid login")))
        let clock = ManualClock()
        let app = try FeathersApp.sample(server) { $0.clock = clock }
        let params = Params(timeout: .seconds(60))
        try await withThrowingTaskGroup(of: FeathersError?.self) { group in
            group.addTask { await failure { try await app.authenticate(.local(email: "a", password: "b")) } }
            try await server.transport.waitForRequest(number: 1)
            for _ in 0..<10 {
                group.addTask { await failure { try await app.service("messages").rawFind(params: params) } }
            }
            try await clock.waitForSleepers(10)
            server.gates["authentication"]?.open()
            for try await error in group { #expect(error?.message == "Invalid login") }
        }
        #expect(server.requests(to: "messages").isEmpty)
        #expect(try await app.service("messages").rawFind()["authorization"] == .null)
    }

    @Test(
        "Codes from 401 to 407 remove the token; after any other failure it is kept and the next call tries again",
        arguments: [
            (FeathersError(.notAuthenticated, "x"), true), (FeathersError(.paymentError, "x"), true),
            (FeathersError(.forbidden, "x"), true),
            (FeathersError(.notFound, "x"), true), (FeathersError(.methodNotAllowed, "x"), true),
            (FeathersError(.notAcceptable, "x"), true),
            (FeathersError(407, "x"), true), (FeathersError(.badRequest, "x"), false),
            (FeathersError(.timeout, "x"), false),
            (FeathersError(.conflict, "x"), false), (FeathersError(.tooManyRequests, "x"), false),
            (FeathersError(.generalError, "x"), false),
            (FeathersError(.badGateway, "x"), false),
            (FeathersError(.unavailable, "x", execution: .mayHaveExecuted), false),
            (FeathersError(.notFound, "no such service here", execution: .neverSent), false),
        ])
    func matrix(_ error: FeathersError, _ removes: Bool) async throws {
        let storage = stored()
        let server = SampleServer(.init(failure: error))
        let app = try FeathersApp.sample(server, storage: storage)
        let failed = await failure { try await app.service("messages").rawFind() }
        #expect(failed?.code == error.code)
        // Whatever became of the sign-in: the call itself has not left.
        #expect(failed?.execution == .neverSent)
        #expect(app.authentication == .signedOut)
        #expect(try await storage.token(for: "feathers-jwt") == (removes ? nil : "stored"))
        server.change { $0.failure = nil }
        #expect(try await app.service("messages").rawFind()["authorization"] == (removes ? .null : "Bearer stored"))
        #expect(server.requests(to: "authentication").count == (removes ? 1 : 2))
    }

    @Test(
        "A stored token that no header may carry is never sent, and removed",
        arguments: ["a\r\nX-Evil: 1", "a\u{0}", "ü", String(repeating: "a", count: 70_000)])
    func poisonedStorage(_ token: String) async throws {
        let storage = stored(token)
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let error = await failure { try await app.service("messages").rawFind() }
        #expect(error?.code == .notAuthenticated)
        #expect(!"\(error as Any)".contains("Evil"))
        #expect(server.transport.requests.isEmpty)
        #expect(try await storage.token(for: "feathers-jwt") == nil)
    }

    @Test("A hook of the authentication service that makes calls of its own is let through")
    func nested() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: stored())
        await app.service("authentication").use(
            hooks: Hooks(after: [{ context in _ = try await context.app.service("profiles").rawFind() }]))
        _ = try await app.service("messages").rawFind()
        #expect(server.transport.requests.map(\.path) == ["authentication", "profiles", "messages"])
    }
}

/// The error a call ends with.
func failure(_ call: () async throws -> some Any) async -> FeathersError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? FeathersError
    }
}

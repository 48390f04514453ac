import FeathersAuthentication
import FeathersCore
import FeathersTesting
import Testing

@Suite("A stub server with sign-in", .timeLimit(.minutes(10)))
struct StubAccountsTests {
    private let accounts = StubAccounts(["ada@example.com": "secret"]) { $0.path == "news" }
    private let services: [String: any ServiceProtocol] = [
        "messages": MemoryService(startID: 1), "news": MemoryService(startID: 1),
    ]

    private func app(_ transport: any Transport) throws -> FeathersApp {
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: InMemoryTokenStorage()))
        return app
    }

    private func signIn(_ app: FeathersApp, password: String = "secret") async throws {
        try await app.authenticate(.local(email: "ada@example.com", password: password))
    }

    private func isRefused(_ app: FeathersApp) async -> Bool {
        do {
            try await app.service("messages").create(["text": "Hi"])
            return false
        } catch {
            return (error as? FeathersError)?.code == .notAuthenticated
        }
    }

    @Test("users have the properties that a test gives them")
    func users() async throws {
        let transport = StubTransport(services: services)
        transport.stub(
            StubAccounts(["ada@example.com": "secret"], users: ["ada@example.com": ["id": 1, "name": "Ada"]]))
        let app = try app(transport)
        try await signIn(app)
        #expect(try app.user(of: JSONValue.self) == ["id": 1, "email": "ada@example.com", "name": "Ada"])
        #expect(app.identity?.name == "1")
    }

    @Test("an app knows its user when it starts without a server")
    func offlineStart() async throws {
        let (transport, tokens) = (StubTransport(services: services), InMemoryTokenStorage())
        transport.stub(
            StubAccounts(["ada@example.com": "secret"], users: ["ada@example.com": ["id": 1, "name": "Ada"]]))
        let first = FeathersApp(transport: transport)
        try first.use(authentication: AuthenticationOptions(storage: tokens))
        try await signIn(first)
        let app = FeathersApp(
            transport: StubTransport { _ in throw FeathersError(.unavailable, "No server", execution: .neverSent) })
        try app.use(authentication: AuthenticationOptions(storage: tokens))
        await #expect(throws: FeathersError.self) { try await app.service("messages").find() }
        #expect(app.identity?.name == "1")
        #expect(try app.user(of: JSONValue.self)?["name"] == "Ada")
    }

    @Test("without a connection, calls need the token of a sign-in, until the log-out")
    func requests() async throws {
        let transport = StubTransport(services: services)
        transport.stub(accounts)
        let (app, other) = (try app(transport), FeathersApp(transport: transport))
        #expect(await isRefused(app))
        await #expect(throws: FeathersError.self) { try await signIn(app, password: "wrong") }
        try await signIn(app)
        #expect(await !isRefused(app))
        // Another app of the same server is not signed in by that.
        #expect(await isRefused(other))
        #expect(try await other.service("news").find().isEmpty)
        try await app.logOut()
        #expect(await isRefused(app))
    }

    @Test("over a connection, it belongs to its user, and a new connection signs in again")
    func connection() async throws {
        let transport = StubRealTimeTransport(services: services)
        transport.stub(accounts)
        let app = try app(transport)
        try await app.connect()
        #expect(await isRefused(app))
        try await signIn(app)
        #expect(await !isRefused(app))
        transport.drop()
        transport.restore()
        #expect(await !isRefused(app))
        let strategies = transport.calls(of: "authentication", .create).map { $0.request.data?["strategy"] }
        #expect(strategies.first == "local" && strategies.last == "jwt")
        await app.disconnect()
    }

    @Test("refuses the tokens that it has revoked")
    func revoked() async throws {
        let transport = StubTransport(services: services)
        transport.stub(accounts)
        let app = try app(transport)
        try await signIn(app)
        accounts.revokeTokens()
        #expect(await isRefused(app))
        try await signIn(app)
        #expect(await !isRefused(app))
    }
}

import FeathersAuthentication
import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@Suite("The signed-in user as a value", .timeLimit(.minutes(5)))
struct SignedInUserTests {
    struct User: Codable, Sendable, Equatable {
        var id: Int
        var email: String
    }

    private static let alice = User(id: 1, email: "alice@example.com")
    private let storage = InMemoryTokenStorage()

    private func server() throws -> SampleServer {
        SampleServer(.init(token: try SampleToken.make(["sub": "1"])))
    }

    @Test("has the types of the server, and leaves with the sign-in")
    func signIn() async throws {
        let app = try FeathersApp.sample(server(), storage: storage)
        #expect(try app.user(of: User.self) == nil)
        try await app.authenticate(.local(email: "alice@example.com", password: "secret"))
        #expect(try app.user(of: User.self) == Self.alice)
        #expect(app.identity?.name == "1")
        struct Other: Decodable { var id: String }
        #expect(throws: DecodingError.self) { try app.user(of: Other.self) }
        try await app.logOut()
        #expect(try app.user(of: User.self) == nil)
    }

    @Test("is there without a server, for the user of the stored token")
    func offline() async throws {
        let server = try server()
        try await FeathersApp.sample(server, storage: storage).authenticate(.local(email: "a", password: "b"))
        server.change { $0.failure = FeathersError(.unavailable, "The server cannot be reached") }
        let app = try FeathersApp.sample(server, storage: storage)
        _ = await app.resolvedIdentity()
        #expect(try app.user(of: User.self) == Self.alice)
        // An attempt that cannot reach the server leaves the user.
        _ = try? await app.reauthenticate()
        #expect(try app.user(of: User.self) == Self.alice)
    }

    @Test("is not that of another user's token")
    func otherToken() async throws {
        let server = try server()
        try await FeathersApp.sample(server, storage: storage).authenticate(.local(email: "a", password: "b"))
        try await storage.store(try SampleToken.make(["sub": "2"]), for: "feathers-jwt")
        let app = try FeathersApp.sample(server, storage: storage)
        #expect(await app.resolvedIdentity()?.name == "2")
        #expect(try app.user(of: User.self) == nil)
    }

    @Test("leaves nothing in the storage after a log-out")
    func logOut() async throws {
        let app = try FeathersApp.sample(server(), storage: storage)
        try await app.authenticate(.local(email: "a", password: "b"))
        #expect(try await storage.token(for: "feathers-jwt-user") != nil)
        try await app.logOut()
        #expect(try await storage.token(for: "feathers-jwt-user") == nil)
    }

    @Test("is that of apps that authenticate their calls themselves")
    func ownIdentity() throws {
        let app = FeathersApp()
        app.setIdentity(Identity("1"), user: ["id": 1, "email": "alice@example.com"])
        #expect(try app.user() == Self.alice)
        app.setIdentity(Identity("2"))
        #expect(try app.user(of: User.self) == nil)
    }

    @Test("is observable, typed, and nil if it does not match the model")
    @MainActor
    func model() async throws {
        let app = try FeathersApp.sample(server(), storage: storage)
        let warnings = Locked(0)
        app.use(diagnostics: .closure { _ in warnings.withLock { $0 += 1 } }, levels: DiagnosticLevels(.warning))
        let model = SessionModel(app, of: User.self)
        let running = Task { await model.run() }
        try await app.authenticate(.local(email: "a", password: "b"))
        try await observed { model.user == Self.alice && model.isSignedIn }
        #expect(warnings.withLock { $0 } == 0)
        let other = SessionModel(app, of: Int.self)
        #expect(other.user == nil && warnings.withLock { $0 } == 1)
        #expect(SessionModel(app).user?["id"] == 1)
        try await app.logOut()
        try await observed { model.user == nil }
        running.cancel()
        await running.value
    }
}

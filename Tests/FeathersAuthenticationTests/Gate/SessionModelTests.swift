import FeathersAuthentication
import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@MainActor
@Suite("The model of a sign-in", .timeLimit(.minutes(10)))
struct SessionModelTests {
    private let transport = StubTransport()
    private let accounts = StubAccounts(["ada@example.com": "secret"])
    private let credentials = AuthenticationCredentials.local(email: "ada@example.com", password: "secret")

    private func app(_ storage: InMemoryTokenStorage = InMemoryTokenStorage()) throws -> FeathersApp {
        transport.stub(accounts)
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: storage))
        return app
    }

    @Test("says who is signed in, and why not")
    func signIn() async throws {
        let model = SessionModel(try app())
        #expect(!model.isSignedIn && !model.isSigningIn && model.user == nil && model.identity == nil)
        await model.signIn(.local(email: "ada@example.com", password: "wrong"))
        #expect(FeathersError.Code.notAuthenticated ~= (model.error ?? CancellationError()) && !model.isSignedIn)
        await model.signIn(credentials)
        #expect(model.isSignedIn && model.error == nil && model.user?["email"] == "ada@example.com")
        #expect(model.identity == Identity("ada@example.com"))
        await model.logOut()
        #expect(!model.isSignedIn && model.error == nil && model.user == nil && model.identity == nil)
        #expect(model.state == .signedOut)
    }

    @Test("says which property a user's record lacks")
    func undecodable() async throws {
        struct Named: Codable, Sendable { var name: String }
        let app = try app()
        let lines = Locked<[String]>([])
        app.use(
            diagnostics: .closure { event in lines.withLock { $0.append(event.message) } },
            levels: DiagnosticLevels(.warning))
        let model = SessionModel(app, of: Named.self)
        await model.signIn(credentials)
        #expect(model.isSignedIn && model.user == nil)
        let line = "The signed-in user cannot be decoded as Named: 'name' is missing"
        #expect(lines.withLock { $0.contains(line) })
    }

    @Test("follows what others in the app do, until its task is cancelled")
    func follows() async throws {
        let app = try app()
        let model = SessionModel(app)
        let running = Task { await model.run() }
        try await app.authenticate(credentials)
        try await observed { model.isSignedIn && model.identity == Identity("ada@example.com") }
        try await app.logOut()
        try await observed { !model.isSignedIn && model.identity == nil }
        running.cancel()
        await running.value
        try await app.authenticate(credentials)
        #expect(!model.isSignedIn)
    }

    @Test("shows a sign-in in progress, and only the outcome of the last one")
    func progress() async throws {
        let (first, asked) = (Promise<Void>(), Promise<Void>())
        let app = FeathersApp(
            transport: StubTransport { request in
                if request.data?["email"] == "slow" {
                    asked.resolve(())
                    try await first.value()
                }
                return ["accessToken": "t", "user": ["id": request.data?["email"] ?? nil]]
            })
        try app.use(authentication: AuthenticationOptions())
        let model = SessionModel(app)
        let slow = Task { await model.signIn(.local(email: "slow", password: "x")) }
        try await asked.value()
        #expect(model.isSigningIn && !model.isSignedIn)
        await model.signIn(.local(email: "fast", password: "x"))
        first.resolve(())
        await slow.value
        #expect(model.isSignedIn && model.identity == Identity("fast") && model.error == nil && !model.isSigningIn)
    }

    @Test("a cancelled sign-in is no failure")
    func cancelled() async throws {
        let asked = Promise<Void>()
        let app = FeathersApp(
            transport: StubTransport { _ in
                asked.resolve(())
                try await Promise<Void>().value()
                return nil
            })
        try app.use(authentication: AuthenticationOptions())
        let model = SessionModel(app)
        let signIn = Task { await model.signIn(.jwt("t")) }
        try await asked.value()
        signIn.cancel()
        await signIn.value
        #expect(model.error == nil && !model.isSignedIn && !model.isSigningIn)
    }

    @Test("a log-out that cannot reach the server is no failure")
    func offline() async throws {
        let model = SessionModel(try app())
        await model.signIn(credentials)
        let gone = FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
        transport.stub("authentication", .remove, with: .error(gone))
        await model.logOut()
        #expect(!model.isSignedIn && model.error == nil && model.identity == nil)
    }

    @Test("signs in with the stored token, if there is one that the server accepts")
    func restore() async throws {
        let storage = InMemoryTokenStorage()
        let first = SessionModel(try app(storage))
        await first.restore()
        #expect(!first.isSignedIn && first.error == nil && transport.calls.isEmpty)
        await first.signIn(credentials)
        let second = SessionModel(try app(storage))
        await second.restore()
        #expect(second.isSignedIn && second.error == nil)
        accounts.revokeTokens()
        let third = SessionModel(try app(storage))
        await third.restore()
        #expect(!third.isSignedIn && FeathersError.Code.notAuthenticated ~= (third.error ?? CancellationError()))
    }

    @Test("without authentication, says what is missing")
    func missing() async throws {
        let model = SessionModel(FeathersApp(transport: transport))
        await model.signIn(credentials)
        #expect(FeathersError.Code.notImplemented ~= (model.error ?? CancellationError()))
    }
}

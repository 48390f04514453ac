import FeathersAuthentication
import FeathersCore
import FeathersTesting
import TestBackend
import Testing

@Suite("Signing in and out", .timeLimit(.minutes(10)))
struct SignInTests {
    private struct User: Codable, Equatable { var id: Int; var email: String }

    @Test("A sign-in gives tokens and user, stores the tokens and shows in the state")
    func signIn() async throws {
        let storage = InMemoryTokenStorage()
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        var states = app.authenticationUpdates().makeAsyncIterator()
        #expect(await states.next() == .signedOut)
        let result = try await app.authenticate(.local(email: "alice@example.com", password: "p4ssw0rd"))
        #expect(result.accessToken == "issued" && result.refreshToken == "r0" && result.payload == nil)
        #expect(try result.user(as: User.self) == User(id: 1, email: "alice@example.com"))
        #expect(
            server.transport.requests[0].data == [
                "strategy": "local", "email": "alice@example.com", "password": "p4ssw0rd",
            ])
        #expect(server.transport.requests[0].params.headers.isEmpty)
        #expect(try await storage.token(for: "feathers-jwt") == "issued")
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r0")
        #expect(await states.next() == .authenticating)
        #expect(await states.next() == .signedIn(result))
        #expect(app.authentication == .signedIn(result))
    }

    @Test("Every strategy sends its own fields")
    func strategies() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server) {
            $0.path = "/login/"; $0.jwtStrategy = "token"
        }
        let credentials: [AuthenticationCredentials] = [
            .local(username: "alice", password: "p", usernameField: "nick", passwordField: "secret"), .jwt("t"),
            .oauth(strategy: "google", accessToken: "g"),
            .init(strategy: "sms", fields: ["code": 1234, "strategy": "other"]),
            .init(strategy: nil, fields: ["email": "a"]),
        ]
        for credentials in credentials { _ = await failure { try await app.authenticate(credentials) } }
        #expect(
            server.requests(to: "login").map(\.data) == [
                ["strategy": "local", "nick": "alice", "secret": "p"], ["strategy": "jwt", "accessToken": "t"],
                ["strategy": "google", "access_token": "g"], ["strategy": "sms", "code": 1234], ["email": "a"],
            ])
    }

    @Test("Signing in with the stored token needs one, asks once, and again only when forced")
    func reauthenticate() async throws {
        let storage = InMemoryTokenStorage()
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let missing = await failure { try await app.reauthenticate() }
        #expect(missing?.code == .notAuthenticated && missing?.message == "No accessToken found in storage")
        try await storage.store("later", for: "feathers-jwt")
        #expect(try await app.reauthenticate().accessToken == "later")
        #expect(try await app.reauthenticate().accessToken == "later")
        #expect(server.requests(to: "authentication").count == 1)
        try await app.reauthenticate(force: true)
        #expect(server.requests(to: "authentication").count == 2)
    }

    @Test("The last of several sign-ins wins, whatever is answered last")
    func lastWins() async throws {
        let firstGate = ClosedGate()
        let transport = StubTransport { request in
            let name = request.data?["email"]?.string ?? ""
            if name == "first" { try await firstGate.pass() }
            return ["accessToken": .string("token-of-\(name)")]
        }
        let storage = InMemoryTokenStorage()
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: storage))
        let first = Task { await failure { try await app.authenticate(.local(email: "first", password: "p")) } }
        try await transport.waitForRequest(number: 1)
        #expect(try await app.authenticate(.local(email: "second", password: "p")).accessToken == "token-of-second")
        firstGate.open()
        #expect(await first.value?.code == .conflict)
        #expect(app.authentication.result?.accessToken == "token-of-second")
        #expect(try await storage.token(for: "feathers-jwt") == "token-of-second")
    }

    @Test("A log-out wins over a sign-in under way, whose answer changes nothing")
    func logOutWins() async throws {
        let storage = InMemoryTokenStorage()
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        let signIn = Task { await failure { try await app.authenticate(.local(email: "a", password: "p")) } }
        try await server.transport.waitForRequest(number: 1)
        let logOut = Task { try await app.logOut() }
        try await server.transport.waitForRequest(number: 2)
        #expect(app.authentication == .signedOut)
        server.gates["authentication"]?.open()
        try await logOut.value
        let error = await signIn.value
        #expect(error?.code == .notAuthenticated && error?.message.contains("logged out") == true)
        #expect(app.authentication == .signedOut)
        #expect(try await storage.token(for: "feathers-jwt") == nil)
    }

    @Test("A log-out removes the tokens and tells the server who leaves")
    func logOut() async throws {
        let storage = InMemoryTokenStorage()
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        try await app.authenticate(.local(email: "a", password: "p"))
        try await app.logOut()
        #expect(app.authentication == .signedOut)
        #expect(try await storage.token(for: "feathers-jwt") == nil)
        #expect(try await storage.token(for: "feathers-jwt-refresh") == nil)
        let request = try #require(server.requests(to: "authentication").last)
        #expect(
            request.method == .remove && request.id == nil
                && request.params.headers == ["Authorization": "Bearer issued"])
        #expect(try await app.service("messages").rawFind()["authorization"] == .null)
    }

    @Test(
        "A log-out counts also where the server can not be told, and says so; refusals of the server are none",
        arguments: [401, 404, 500])
    func logOutFailing(_ code: Int) async throws {
        let storage = InMemoryTokenStorage(["feathers-jwt": "stored"])
        let transport = StubTransport { _ in throw FeathersError(FeathersError.Code(rawValue: code), "no") }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: storage))
        #expect(await failure { try await app.logOut() }?.code.rawValue == (code == 500 ? 500 : nil))
        #expect(transport.requests.last?.params.headers == ["Authorization": "Bearer stored"])
        #expect(try await storage.token(for: "feathers-jwt") == nil)
    }

    @Test(
        "An answer without a usable access token is an error that does not show it",
        arguments: [
            [:], ["accessToken": .null], ["accessToken": 7], ["accessToken": ""], ["accessToken": "sec\r\nret: 1"],
            ["accessToken": .string(String(repeating: "secret", count: 20_000))], "secret", .null,
        ] as [JSONValue])
    func hostileAnswer(_ answer: JSONValue) async throws {
        let storage = InMemoryTokenStorage()
        let app = try FeathersApp.sample(SampleServer(.init(answer: answer)), storage: storage)
        let error = try #require(await failure { try await app.authenticate(.local(email: "a", password: "hunter2")) })
        #expect(error.code == .generalError)
        #expect(!"\(error)".contains("ret") && !"\(error)".contains("hunter2"))
        #expect(app.authentication == .signedOut)
        #expect(try await storage.token(for: "feathers-jwt") == nil)
    }

    @Test("Without authentication set up, an app says so")
    func missing() async {
        let app = FeathersApp()
        #expect(
            await failure { try await app.authenticate(.jwt("t")) }?.message.contains("use(authentication:)") == true)
        #expect(app.authentication == .signedOut)
        #expect(await Array(app.authenticationUpdates()) == [.signedOut])
    }

    @Test("Options that can not be used are refused by name")
    func options() throws {
        func refusal(_ configure: (inout AuthenticationOptions) -> Void) -> String? {
            do {
                try FeathersApp().use(authentication: AuthenticationOptions(configure))
                return nil
            } catch { return "\(error)" }
        }
        #expect(refusal { $0.path = "//" }?.contains("path") == true)
        #expect(refusal { $0.header = "X Y" }?.contains("'X Y'") == true)
        #expect(refusal { $0.scheme = "Bearer\r\n" }?.contains("scheme") == true)
        #expect(refusal { $0.storageKey = "" }?.contains("storage key") == true)
        #expect(refusal { _ in } == nil)
        let app = FeathersApp()
        try app.use(authentication: AuthenticationOptions())
        #expect(throws: FeathersError.self) { try app.use(authentication: AuthenticationOptions()) }
    }
}

extension Array {
    fileprivate init(_ sequence: AsyncStream<Element>) async {
        self = []
        for await element in sequence { append(element) }
    }
}

import Feathers
import FeathersJSONAPI
import FeathersTesting
import Foundation
import Testing

/// Only a server that got the token says anything about it.
@Suite(.timeLimit(.minutes(5))) struct RedirectedRefusalTests {
    static let own = "https://api.example.com"
    static let other = "https://other.example.com"

    private actor Accounts: ServiceProtocol {
        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
            ["accessToken": "secret", "user": ["id": 1]]
        }
    }

    private static func refusal(_ status: Int) -> HTTPStub {
        .json(["name": "NotAuthenticated", "message": "Who are you?", "code": .integer(Int64(status))], status: status)
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// An app that is signed in, whose path `away` redirects to another server, which refuses every call.
    private func scene(_ status: Int = 401, over way: CredentialOriginTests.OwnTransport = .rest, signedIn: Bool = true)
        async throws -> (app: FeathersApp, http: StubHTTPClient)
    {
        let http = StubHTTPClient()
        http.stub("/away", with: .status(307, headers: ["Location": Self.other + "/denied"]))
        // Leads back to the own server, which then gets no token either.
        http.stub("/back", with: .status(307, headers: ["Location": Self.other + "/home"]))
        http.stub(Self.other + "/home", with: .status(307, headers: ["Location": Self.own + "/denied"]))
        http.stub("/denied", with: Self.refusal(status))
        http.stub("/fine", with: .json([["id": 1]]))
        let own = try url(Self.own)
        let app = FeathersApp(
            transport: way == .jsonAPI ? .jsonAPI(own, httpClient: http) : .rest(own, httpClient: http))
        try await app.use(Accounts(), at: "authentication")
        let refreshes = TokenRefresh.function { _ in throw FeathersError(.notAuthenticated, "There is no other token") }
        try app.use(authentication: AuthenticationOptions(storage: InMemoryTokenStorage()) { $0.refresh = refreshes })
        if signedIn { try await app.authenticate(.local(email: "a", password: "b")) }
        return (app, http)
    }

    /// A call of a service at a path.
    struct Call: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let send: @Sendable (FeathersApp, String) async throws -> Void
    }

    static let calls: [Call] = [
        Call(testDescription: "find") { _ = try await $0.service($1).find() },
        Call(testDescription: "create") { _ = try await $0.service($1).create(["text": "a"]) },
        Call(testDescription: "a streamed result") { app, path in
            for try await _ in app.service(path).stream("ask") {}
        },
        Call(testDescription: "an endpoint") { _ = try await $0.request(Endpoint<JSONValue>(.get, $1)) },
    ]

    @Test(arguments: calls, ["away", "back"])
    func `Another server's 401 ends no sign-in and renews no token`(call: Call, path: String) async throws {
        let (app, http) = try await scene()
        let error = await failure { try await call.send(app, path) }
        #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
        #expect(error?.message.contains(path == "away" ? Self.other : Self.own) == true)
        #expect(error?.message.contains("401") == true)
        #expect(http.requests.filter { $0.url.path() == "/denied" }.map { $0.headers["Authorization"] } == [nil])
        #expect(app.authentication.result?.accessToken == "secret" && app.identity != nil)
    }

    @Test(arguments: [401, 402, 403, 407])
    func `What another server says about the user says nothing`(status: Int) async throws {
        for way in [CredentialOriginTests.OwnTransport.rest, .jsonAPI] {
            let (app, _) = try await scene(status, over: way)
            let error = await failure { try await app.service("away").find() }
            #expect(error?.code == .unavailable)
            #expect(app.authentication.result?.accessToken == "secret")
        }
    }

    @Test(arguments: 401...407)
    func `A sign-in that was redirected to another server is not refused`(status: Int) async throws {
        let http = StubHTTPClient()
        http.stub("/authentication", with: .status(307, headers: ["Location": Self.other + "/denied"]))
        http.stub("/denied", with: Self.refusal(status))
        let app = FeathersApp(transport: .rest(try url(Self.own), httpClient: http))
        let storage = InMemoryTokenStorage(["feathers-jwt \(Self.own)": "secret"])
        try app.use(authentication: AuthenticationOptions(storage: storage))
        let error = await failure { try await app.reauthenticate() }
        #expect(error?.code == .unavailable)
        #expect(try await storage.token(for: "feathers-jwt \(Self.own)") == "secret")
    }

    @Test func `The own server's 401 still counts, after a redirect within it too`() async throws {
        for path in ["denied", "within"] {
            let (app, http) = try await scene()
            http.stub("/within", with: .status(307, headers: ["Location": "/denied"]))
            #expect(await failure { try await app.service(path).find() }?.code == .notAuthenticated)
            #expect(app.authentication.result == nil)
        }
    }

    @Test func `A service on a server without the token keeps its 401, with the server's name`() async throws {
        let (app, http) = try await scene()
        http.stub("/reports", with: Self.refusal(401))
        try await app.use(.rest(try url(Self.other), httpClient: http), at: "reports")
        let error = await failure { try await app.service("reports").find() }
        #expect(error?.code == .notAuthenticated)
        #expect(error.map { "\($0)" }?.contains(Self.other) == true)
        #expect(app.authentication.result?.accessToken == "secret")
        #expect(http.calls(to: "/reports").count == 1)
    }

    @Test(arguments: ["away", "reports"], [true, false])
    func `A queued write that another server refuses holds back no other one`(path: String, isSignedIn: Bool)
        async throws
    {
        let (app, http) = try await scene(signedIn: isSignedIn)
        http.stub("/reports", with: Self.refusal(401))
        http.stub("/fine", "POST", with: .json(["id": 2], status: 201))
        try await app.use(.rest(try url(Self.other), httpClient: http), at: "reports")
        let folder = try TemporaryFolder()
        let (failures, asked) = AsyncStream.makeStream(of: OutboxFailure.self)
        let outbox = try await Outbox(file: folder.url.appending(path: "writes.outbox")) { options in
            options.decide = { failure in
                asked.yield(failure)
                return nil
            }
            options.retry = OutboxRetry(initialDelay: .milliseconds(1), maximumDelay: .milliseconds(1))
        }
        try app.use(outbox: outbox)
        try await withFeathersApp(app) { app in
            _ = try await app.service(path).outbox.create(["text": "a"])
            let failure = await failures.first { _ in true }
            #expect(failure?.reason == (path == "away" ? .unknown : .rejected))
            #expect(try await app.service("fine").outbox.create(["text": "b"]).result() == ["id": 2])
            #expect(outbox.state.activity != .waitingForSignIn)
        }
        await outbox.close()
    }

    @Test func `A live query that another server refuses goes on, and the sign-in too`() async throws {
        let (app, http) = try await scene()
        http.stub(
            "/notes", "GET",
            with: .cycle([
                .json([["id": 1]]), .status(302, headers: ["Location": Self.other + "/denied"]), .json([["id": 2]]),
            ]))
        try await withFeathersApp(app) { app in
            let query = app.service("notes").live()
            var snapshots = query.snapshots.makeAsyncIterator()
            let first = try await snapshots.next()
            #expect(first?.map(\.record) == [["id": 1]])
            #expect(await failure { try await query.refresh() }?.code == .unavailable)
            async let _: Void = query.refresh()
            let second = try await snapshots.next()
            #expect(second?.map(\.record) == [["id": 2]])
        }
        #expect(app.authentication.result?.accessToken == "secret")
    }
}

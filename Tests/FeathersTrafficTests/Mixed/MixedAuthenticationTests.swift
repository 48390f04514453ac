import Feathers
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("Authentication over both ways", .timeLimit(.minutes(10)))
struct MixedAuthenticationTests {
    private let credentials = AuthenticationCredentials.local(email: "a@example.com", password: "p")

    private func ways(_ configure: (inout TransportRoutes) -> Void = { _ in }) throws -> StubbedWays {
        let ways = StubbedWays(configure)
        ways.signsIn()
        try ways.app.use(authentication: AuthenticationOptions())
        return ways
    }

    @Test("A sign-in over the connection puts its token into the headers of REST calls")
    func overConnection() async throws {
        let ways = try ways { $0["reports"] = .rest }
        try await ways.app.connect()
        try await ways.app.authenticate(credentials)
        _ = try await ways.app.service("reports").rawFind()
        #expect(ways.socket.requests.map(\.path) == ["authentication"])
        #expect(ways.rest.requests.map { $0.params.headers["Authorization"] } == ["Bearer token"])
    }

    @Test("Without a connection the sign-in goes over REST, and the next connection is told")
    func overREST() async throws {
        let ways = try ways()
        try await ways.app.authenticate(credentials)
        #expect(try await ways.app.service("messages").rawFind() == "rest")
        #expect(ways.rest.requests.last?.params.headers["Authorization"] == "Bearer token")
        try await ways.app.connect()
        #expect(try await ways.app.service("messages").rawFind() == "socket")
        #expect(ways.socket.requests.map(\.path) == ["authentication", "messages"])
        #expect(ways.socket.requests.first?.data == ["strategy": "jwt", "accessToken": "token"])
    }

    @Test("A connection that opens while a sign-in goes over REST waits for it, and is told: nobody signs in twice")
    func meanwhile() async throws {
        let ways = StubbedWays()
        ways.signsIn()
        let opened = Promise<Void>()
        ways.socket.use(connectionSetup: ConnectionSetup(prepare: { _ in opened.resolve(()) }))
        try ways.app.use(authentication: AuthenticationOptions())
        let clock = ManualClock()
        ways.rest.stub(
            "authentication", .create, with: .value(["accessToken": "token"]).delayed(by: .seconds(1), on: clock))
        async let signedIn = ways.app.authenticate(credentials)
        try await clock.waitForSleepers(1)
        // When this returns the connection waits. It would have signed in itself by now, were it to.
        let running = await SettlingExecutor().start { try await ways.socket.run() }
        #expect(opened.isSettled && ways.socket.requests.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(try await signedIn.accessToken == "token")
        try await ways.app.connect()
        #expect(ways.rest.requests.count == 1)
        #expect(ways.socket.requests.map { $0.data?["strategy"] } == ["jwt"])
        running.cancel()
        try await running.value
    }

    @Test("A sign-in whose route is REST is told to the connection that stands")
    func routedToREST() async throws {
        let ways = try ways { $0.standard = .rest }
        try await ways.app.connect()
        try await ways.app.authenticate(credentials)
        // The first call after it waits until the connection knows.
        _ = try await ways.app.service("messages").rawFind()
        #expect(ways.rest.requests.map(\.path) == ["authentication", "messages"])
        #expect(ways.socket.requests.map(\.path) == ["authentication"])
    }

    @Test(
        "A log-out goes over the connection, and over REST with the token where none stands", arguments: [true, false])
    func logOut(isConnected: Bool) async throws {
        let ways = try ways()
        try await ways.app.connect()
        try await ways.app.authenticate(credentials)
        if !isConnected { await ways.app.disconnect() }
        try await ways.app.logOut()
        let last = try #require(isConnected ? ways.socket.requests.last : ways.rest.requests.last)
        #expect(last.path == "authentication" && last.method == .remove)
        #expect(last.params.headers["Authorization"] == "Bearer token")
    }

    @Test("A REST call that is refused with 401 leads to one refresh and one more try")
    func refused() async throws {
        let ways = StubbedWays { $0["reports"] = .rest }
        ways.signsIn()
        try ways.app.use(
            authentication: AuthenticationOptions(
                refresh: .function { _ in .tokens(AuthenticationTokens(accessToken: "second")) }))
        ways.rest.stub(
            "reports",
            with: ServiceStub { request in
                guard request.params.headers["Authorization"] == "Bearer second" else {
                    throw FeathersError(.notAuthenticated, "jwt expired")
                }
                return "mine"
            })
        try await ways.app.connect()
        try await ways.app.authenticate(credentials)
        #expect(try await ways.app.service("reports").rawFind() == "mine")
        // The connection has been told of the other token.
        #expect(ways.socket.requests.last?.data?["accessToken"] == "second")
    }
}

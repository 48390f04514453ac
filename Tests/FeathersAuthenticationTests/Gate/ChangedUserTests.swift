import FeathersAuthentication
import FeathersCore
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("Calls and a change of the signed-in user", .timeLimit(.minutes(10)))
struct ChangedUserTests {
    /// A server that holds messages back and refuses the tokens of the users named.
    private struct Server {
        let gate = ClosedGate()
        let transport: StubTransport
        let app: FeathersApp

        init(refusing refused: Set<String> = []) throws {
            transport = StubTransport { [gate] request in
                guard request.path == "messages" else {
                    let name = request.data?["email"] ?? "nobody"
                    return ["accessToken": name, "user": ["id": name]]
                }
                let token = String(request.params.headers["Authorization"]?.dropFirst(7) ?? "")
                if token == "alice" { try await gate.pass() }
                if refused.contains(token) { throw FeathersError(.notAuthenticated, "jwt expired") }
                return .string(token)
            }
            app = FeathersApp(transport: transport)
            try app.use(authentication: AuthenticationOptions())
        }

        func signIn(_ name: String) async throws { try await app.authenticate(.local(email: name, password: "p")) }

        var tokens: [String?] {
            transport.requests.filter { $0.path == "messages" }.map { $0.params.headers["Authorization"] }
        }
    }

    @Test("A write of one user is not repeated as the next one's when the server refuses it")
    func writeAfterRefusal() async throws {
        let server = try Server(refusing: ["alice"])
        try await server.signIn("alice")
        let write = Task { await failure { try await server.app.service("messages").create(["a": 1]) } }
        try await server.transport.waitForRequest(number: 2)
        try await server.app.logOut()
        try await server.signIn("bob")
        server.gate.open()
        #expect(await write.value?.code == .notAuthenticated)
        #expect(server.tokens == ["Bearer alice"])
    }

    @Test("A call of one user that waits for a refresh is not sent as the next one's")
    func waitingForRefresh() async throws {
        let server = SampleServer(holding: ["refresh-tokens"], .init(rejected: ["issued"]))
        let clock = ManualClock()
        let app = try FeathersApp.sample(server) { ($0.refresh, $0.clock) = (.service("refresh-tokens"), clock) }
        try await app.authenticate(.local(email: "alice", password: "p"))
        // Without a connection, every call waits for the refresh that the first one has asked for.
        let first = Task { await failure { try await app.service("messages").rawFind() } }
        try await server.transport.waitForRequest(number: 3)
        let write = Task {
            await failure { try await app.service("messages").create(["a": 1], params: Params(timeout: .seconds(60))) }
        }
        try await clock.waitForSleepers(1)
        server.change { $0.token = "bobs" }
        try await app.authenticate(.local(email: "bob", password: "p"))
        let error = await write.value
        #expect(error?.code == .notAuthenticated && error?.execution == .neverSent)
        #expect(await first.value?.code == .notAuthenticated)
        #expect(server.requests(to: "messages").count == 1)
    }

    @Test("A read that is answered after a log-out, or another sign-in, throws", arguments: [false, true])
    func read(signsIn: Bool) async throws {
        let server = try Server()
        try await server.signIn("alice")
        let read = Task { await failure { try await server.app.service("messages").rawFind() } }
        let write = Task { try await server.app.service("messages").create(["a": 1]) }
        try await server.transport.waitForRequest(number: 3)
        if signsIn { try await server.signIn("bob") } else { try await server.app.logOut() }
        server.gate.open()
        let error = await read.value
        #expect(error?.code == .notAuthenticated && error?.execution == .answered)
        #expect(error?.message == "The signed-in user changed before the response arrived")
        // A write has happened, and its answer tells of it.
        #expect(try await write.value == "alice")
    }

    @Test("A read stays the user's own when the same user comes back from the storage")
    func sameUser() async throws {
        let server = try Server()
        try await server.signIn("alice")
        let read = Task { try await server.app.service("messages").rawFind() }
        try await server.transport.waitForRequest(number: 2)
        server.gate.open()
        #expect(try await read.value == "alice")
    }
}

@Suite("Calls that wait for a sign-in and have little time", .timeLimit(.minutes(10)))
struct WaitingTimeTests {
    private let clock = ManualClock()
    private let storage = InMemoryTokenStorage(["feathers-jwt": "stored"])

    @Test("fail with a timeout when it ends, and were never sent")
    func timeout() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage) { $0.clock = clock }
        let params = Params(timeout: .milliseconds(500))
        let call = Task { await failure { try await app.service("messages").rawFind(params: params) } }
        try await clock.waitForSleepers(1)
        // Another caller waits longer.
        let other = Task { try await app.service("messages").rawFind(params: Params(timeout: .seconds(10))) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(500))
        let error = await call.value
        #expect(error?.code == .timeout && error?.execution == .neverSent)
        server.gates["authentication"]?.open()
        #expect(try await other.value["authorization"] == "Bearer stored")
        // What is left is the call's time.
        #expect(server.requests(to: "messages").map(\.params.timeout) == [.milliseconds(9500)])
    }

    @Test("get what is left of it for the second try after a refresh")
    func secondTry() async throws {
        let server = SampleServer(holding: ["messages", "refresh-tokens"], .init(rejected: ["stored"]))
        let app = try FeathersApp.sample(server, storage: storage) {
            ($0.clock, $0.refresh) = (clock, .service("refresh-tokens"))
        }
        _ = try await app.reauthenticate()
        let call = Task { try await app.service("messages").create(["a": 1], params: Params(timeout: .seconds(1000))) }
        let late = Task {
            await failure { try await app.service("messages").create(["a": 2], params: Params(timeout: .seconds(200))) }
        }
        // Both are refused: neither waits for the refresh before it is sent.
        try await server.transport.waitForRequest(number: 3)
        server.gates["messages"]?.open()
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(400))
        // Its own answer is what it ends with: the server has refused it.
        #expect(await late.value?.message == "jwt expired")
        server.gates["refresh-tokens"]?.open()
        #expect(try await call.value["authorization"] == "Bearer again")
        #expect(server.requests(to: "messages").last?.params.timeout == .seconds(600))
    }
}

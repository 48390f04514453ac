import Feathers
import FeathersTesting
import TestBackend
import Testing

/// Apps that authenticate with hooks of their own, and report their user with `setIdentity`.
@Suite(.timeLimit(.minutes(10))) struct ChangedIdentityTests {
    private let clock = ManualClock()

    private func app() -> (FeathersApp, StubTransport) {
        let clock = clock
        let transport = StubTransport { request in
            try await clock.sleep(for: .seconds(1))
            return .string(request.params.headers["X-User"] ?? "none")
        }
        let app = FeathersApp(transport: transport)
        app.use(hooks: Hooks(before: [{ $0.params.headers["X-User"] = $0.app.identity?.name }]))
        return (app, transport)
    }

    @Test(arguments: [nil, "alice", "bob"] as [String?], [ServiceMethod.find, .get])
    func `A read whose response arrives after a change of user fails`(next: String?, method: ServiceMethod) async throws
    {
        let (app, transport) = app()
        app.setIdentity(Identity("alice"))
        let request = ServiceRequest(path: "notes", method: method, id: method == .get ? 1 : nil)
        async let read = app.service("notes").respond(to: request)
        try await transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        app.setIdentity(next.map(Identity.init))
        clock.advance(by: .seconds(1))
        do {
            _ = try await read
            Issue.record("The next user has got the response")
        } catch let error as FeathersError {
            #expect(error.code == .notAuthenticated && error.execution == .answered)
        }
    }

    @Test func `A write's response is passed on, and a read that was not sent yet never is`() async throws {
        let (app, transport) = app()
        app.setIdentity(Identity("alice"))
        async let write = app.service("notes").create([:])
        try await transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        app.setIdentity(Identity("bob"))
        clock.advance(by: .seconds(1))
        #expect(try await write == "alice")
        app.use(hooks: Hooks(before: [{ $0.app.setIdentity(Identity("carol")) }]))
        let error = await failure { try await app.service("notes").find() }
        #expect(error?.code == .notAuthenticated && error?.execution == .neverSent)
        #expect(transport.requests.count == 1)
    }

    @Test func `The first call may sign in, in a hook of its own`() async throws {
        let transport = StubTransport { _ in "ok" }
        let app = FeathersApp(transport: transport)
        app.use(hooks: Hooks(before: [{ if $0.app.identity == nil { $0.app.setIdentity(Identity("alice")) } }]))
        #expect(try await app.service("notes").rawFind() == "ok")
    }

    @Test func `A call with a token of its own belongs to no sign-in`() async throws {
        let (app, transport) = app()
        async let read = app.service("notes").rawFind(params: Params(token: "theirs"))
        try await transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        app.setIdentity(Identity("bob"))
        clock.advance(by: .seconds(1))
        #expect(try await read == "none")
    }
}

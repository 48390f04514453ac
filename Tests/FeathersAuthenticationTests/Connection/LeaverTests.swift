import Feathers
import FeathersSupport
import FeathersTesting
import Testing

/// A server may execute a sign-in long after it was sent. Whoever has left by then must not be signed in when others
/// call.
@Suite("Sign-ins of users who have left", .timeLimit(.minutes(10)))
struct LeaverTests {
    private let transport = StubRealTimeTransport()
    private let app: FeathersApp

    init() throws {
        app = FeathersApp(transport: transport)
        transport.stub("messages", with: .value([]))
        transport.stub("authentication", .remove, with: .value([:]))
    }

    private func alice(_ name: String = "alice") -> AuthenticationCredentials { .local(email: name, password: "p") }

    /// The server executes a sign-in when its gate opens. The names of those it signed in, and of those who called
    /// `messages`, are in order.
    private func slowServer(_ gates: [String: Promise<Void>]) -> Locked<[String]> {
        let (owner, log) = (Locked("nobody"), Locked<[String]>([]))
        transport.stub(
            "authentication", .create,
            with: ServiceStub { request in
                let name = (request.data?["email"] ?? request.data?["accessToken"])?.string ?? ""
                try await gates[name]?.value()
                owner.withLock { $0 = name }
                log.withLock { $0.append("signed in \(name)") }
                return ["accessToken": .string(name), "user": ["id": .string(name)]]
            })
        transport.stub(
            "authentication", .remove,
            with: ServiceStub { _ in
                owner.withLock { $0 = "nobody" }
                log.withLock { $0.append("logged out") }
                return [:]
            })
        transport.stub(
            "messages",
            with: ServiceStub { _ in
                log.withLock { log in owner.withLock { log.append("called as \($0)") } }
                return []
            })
        return log
    }

    @Test("The connection of a sign-in that is not answered before the log-out is not used by anyone else")
    func signInAfterLogOut() async throws {
        let log = try await callAfterLateSignIn { try await app.logOut() }
        #expect(log == ["logged out", "called as nobody"])
    }

    @Test("The connection of a sign-in that is not answered before the next user's is not used by that user")
    func signInAfterNextUser() async throws {
        let log = try await callAfterLateSignIn { try await app.authenticate(alice("bob")) }
        #expect(log == ["signed in bob", "called as bob"])
    }

    /// Signs alice in, which the server executes only after she has left and the next call has been made.
    private func callAfterLateSignIn(_ leave: () async throws -> Void) async throws -> [String] {
        let (gate, called) = (Promise<Void>(), Promise<Void>())
        let log = slowServer(["alice": gate])
        try app.use(authentication: AuthenticationOptions())
        await app.service("messages").use(hooks: Hooks(before: [.find: [{ _ in called.resolve(()) }]]))
        try await app.connect()
        let signIn = Task { try? await app.authenticate(alice()) }
        try await transport.waitForRequest(number: 1)
        try await leave()
        _ = await signIn.value
        async let found = app.service("messages").find()
        try await called.value()
        _ = try await found
        #expect(transport.openings.count == 2)
        gate.resolve(())
        await app.disconnect()
        return log.withLock { $0 }
    }

    @Test("A sign-in that a hook holds up keeps no one else waiting")
    func heldUpSignIn() async throws {
        let (gate, reached) = (Promise<Void>(), Promise<Void>())
        let log = slowServer([:])
        try app.use(authentication: AuthenticationOptions())
        await app.service("authentication").use(
            hooks: Hooks(before: [
                .create: [
                    { context in
                        guard context.data?["email"] == "alice" else { return }
                        reached.resolve(())
                        try await gate.value()
                    }
                ]
            ]))
        try await app.connect()
        let signIn = Task { try? await app.authenticate(alice()) }
        try await reached.value()
        try await app.authenticate(alice("bob"))
        _ = try await app.service("messages").find()
        #expect(log.withLock { $0 } == ["signed in bob", "called as bob"])
        gate.resolve(())
        _ = await signIn.value
        await app.disconnect()
    }

    @Test("A connection over which the stored token was never answered is replaced when another user signs in")
    func unansweredRestore() async throws {
        let (clock, storage) = (ManualClock(), InMemoryTokenStorage())
        let transport = StubRealTimeTransport(callTimeout: .seconds(10), clock: clock)
        let app = FeathersApp(transport: transport)
        try await storage.store("stored", for: "feathers-jwt")
        transport.stub(
            "authentication", .create,
            with: ServiceStub { request in
                if request.data?["accessToken"] == "stored" { try await Promise<Void>().value() }
                return ["accessToken": "bob", "user": ["id": "bob"]]
            })
        transport.stub("messages", with: .value([]))
        try app.use(authentication: AuthenticationOptions(storage: storage))
        let running = Task { try await app.run() }
        try await transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        try await app.authenticate(alice("bob"))
        _ = try await app.service("messages").find()
        #expect(transport.openings.count == 2)
        running.cancel()
        _ = try? await running.value
    }

    @Test(
        "A connection over which the user's token was never answered is replaced when that user leaves",
        arguments: [false, true])
    func unansweredAnnouncement(isReplaced: Bool) async throws {
        let (clock, isSilent) = (ManualClock(), Locked(false))
        let transport = StubRealTimeTransport(callTimeout: .seconds(10), clock: clock)
        let app = FeathersApp(transport: transport)
        transport.stub(
            "authentication", .create,
            with: ServiceStub { request in
                let name = request.data?["email"] ?? request.data?["accessToken"] ?? .null
                if name == "alice", isSilent.withLock({ $0 }) { try await Promise<Void>().value() }
                return ["accessToken": name, "user": ["id": name]]
            })
        transport.stub("authentication", .remove, with: .value([:]))
        transport.stub("messages", with: .value([]))
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        try await app.authenticate(alice())
        isSilent.withLock { $0 = true }
        transport.drop()
        transport.restore()
        try await transport.waitForRequest(number: 2)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        try await transport.waitForStatus { $0 == .connected(recovered: false) }
        #expect(transport.openings.count == 2)
        if isReplaced { try await app.authenticate(alice("bob")) } else { try await app.logOut() }
        _ = try await app.service("messages").find()
        #expect(transport.openings.count == 3)
        await app.disconnect()
    }

    @Test(
        "A log-out while the connection is prepared is sent over it, and ends it", arguments: [false, true])
    func logOutBesideConnection(isRefused: Bool) async throws {
        let log = slowServer([:])
        let rest = StubTransport { request in
            if isRefused { throw FeathersError(.notAuthenticated, "Not authenticated") }
            return .string("\(request.method) over REST")
        }
        let (prepared, reached) = (Promise<Void>(), Promise<Void>())
        let isHeld = Locked(false)
        let app = FeathersApp(transport: .mixed(realTime: transport, rest: rest))
        try app.use(authentication: AuthenticationOptions())
        transport.use(
            connectionSetup: ConnectionSetup(prepare: { _ in
                guard isHeld.withLock({ $0 }) else { return }
                reached.resolve(())
                try? await prepared.value()
            }))
        try await app.connect()
        try await app.authenticate(alice())
        isHeld.withLock { $0 = true }
        transport.drop()
        transport.restore()
        try await reached.value()
        try await app.logOut()
        prepared.resolve(())
        try await transport.waitForStatus { $0 == .connected(recovered: false) }
        _ = try await app.service("messages").find()
        #expect(log.withLock { $0 } == ["signed in alice", "signed in alice", "logged out", "called as nobody"])
        await app.disconnect()
    }
}

import Feathers
import FeathersSupport
import FeathersTesting
import Testing

@Suite("Signing in and out over a connection that comes and goes", .timeLimit(.minutes(10)))
struct SignInOverConnectionTests {
    private let transport = StubRealTimeTransport()
    private let app: FeathersApp

    init() throws {
        app = FeathersApp(transport: transport)
        transport.stub("messages", with: .value([]))
        transport.stub(
            "authentication", .create,
            with: ServiceStub { request in
                let name = request.data?["accessToken"] ?? request.data?["email"] ?? "nobody"
                return ["accessToken": name, "user": ["id": name]]
            })
        transport.stub("authentication", .remove, with: .value([:]))
    }

    private func alice(_ name: String = "alice") -> AuthenticationCredentials { .local(email: name, password: "p") }

    /// What the authentication service was asked, in order.
    private var asked: [String] {
        transport.calls(of: "authentication").map { call in
            let request = call.request
            return "\(request.method) \(request.data?["email"]?.string ?? request.data?["accessToken"]?.string ?? "")"
        }
    }

    @Test("A sign-in made while the connection opens succeeds for its hooks too")
    func whileOpening() async throws {
        let failures = Locked<[String]>([])
        let successes = Locked(0)
        app.use(
            hooks: Hooks(around: [
                { context, next in
                    do {
                        try await next(&context)
                        successes.withLock { $0 += 1 }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                        throw error
                    }
                }
            ]))
        try app.use(authentication: AuthenticationOptions())
        async let signedIn = app.authenticate(alice())
        try await transport.waitForWaitingCalls(1)
        try await app.connect()
        #expect(try await signedIn.accessToken == "alice")
        #expect(failures.withLock { $0 } == [] && successes.withLock { $0 } == 1)
        #expect(asked == ["create alice"])
        await app.disconnect()
    }

    @Test("A connection whose log-out the server does not accept is replaced before anything is sent as no one")
    func refusedLogOut() async throws {
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        try await app.authenticate(alice())
        transport.stub("authentication", .remove, with: .error(FeathersError(.generalError, "down")))
        await #expect(throws: FeathersError.self) { try await app.logOut() }
        _ = try await app.service("messages").find()
        #expect(asked == ["create alice", "remove "] && transport.openings.count == 2)
        await app.disconnect()
    }

    @Test("A hook that fails a log-out as if the connection were lost keeps no later call waiting")
    func failedLogOut() async throws {
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        try await app.authenticate(alice())
        let isFirst = Locked(true)
        await app.service("authentication").use(
            hooks: Hooks(before: [
                .remove: [
                    { _ in
                        if isFirst.withLock({ $0 }) {
                            throw FeathersError(.unavailable, "offline", execution: .neverSent)
                        }
                    }
                ]
            ]))
        try await app.logOut()
        _ = try await app.service("messages").find()
        #expect(asked == ["create alice"] && transport.openings.count == 2)
        await app.disconnect()
    }

    @Test("A connection over which a sign-in was never answered is replaced before anything else is sent")
    func unansweredSignIn() async throws {
        let clock = ManualClock()
        let transport = StubRealTimeTransport(callTimeout: .seconds(10), clock: clock)
        let app = FeathersApp(transport: transport)
        transport.stub("authentication", .create, with: .unanswered)
        transport.stub("messages", with: .value([]))
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        let signIn = Task { try await app.authenticate(alice()) }
        try await transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        await #expect { try await signIn.value } throws: { FeathersError.Code.timeout ~= $0 }
        _ = try await app.service("messages").find()
        #expect(transport.openings.count == 2)
        await app.disconnect()
    }

    @Test("A sign-in that is given up while the connection is prepared leaves no one signed in over it")
    func withdrawnWhilePrepared() async throws {
        let (prepared, gate) = (Promise<Void>(), Promise<Void>())
        transport.use(connectionSetup: ConnectionSetup(prepare: { _ in try? await prepared.value() }))
        transport.stub(
            "authentication", .create,
            with: ServiceStub { _ in
                try await gate.value()
                return ["accessToken": "alice", "user": ["id": "alice"]]
            })
        try app.use(authentication: AuthenticationOptions())
        let running = Task { try await app.run() }
        let signIn = Task { try? await app.authenticate(alice()) }
        try await transport.waitForRequest(number: 1)
        try? await app.logOut()
        _ = await signIn.value
        gate.resolve(())
        prepared.resolve(())
        _ = try await app.service("messages").find()
        #expect(transport.openings.count == 2 && asked.first == "create alice")
        running.cancel()
        _ = try? await running.value
        await app.disconnect()
    }

    @Test("Authentication cannot be installed once the app has a connection, or is about to open one; later it can")
    func late() async throws {
        try await app.connect()
        #expect { try app.use(authentication: AuthenticationOptions()) } throws: { FeathersError.Code.conflict ~= $0 }
        #expect(app.authentication == .signedOut)
        await app.disconnect()
        try await withFeathersApp(app) { app in
            #expect { try app.use(authentication: AuthenticationOptions()) } throws: {
                FeathersError.Code.conflict ~= $0
            }
            #expect(app.authentication == .signedOut)
        }
        try app.use(authentication: AuthenticationOptions())
        try await withFeathersApp(app) { app in
            try await app.authenticate(alice())
            let events = app.service("messages").events(.created)
            transport.emit(.created, of: "messages", ["id": 1])
            #expect(await events.first { _ in true }?["id"] == 1)
        }
    }

    @Test("A sign-in whose connection is lost before the answer is made again over the next one")
    func lost() async throws {
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        let registration = transport.stub(where: { $0.path == "authentication" }, with: .unanswered)
        async let signedIn = app.authenticate(alice())
        try await transport.waitForRequest(number: 1)
        transport.removeStub(registration)
        transport.drop()
        transport.restore()
        #expect(try await signedIn.accessToken == "alice")
        _ = try await app.service("messages").find()
        #expect(asked == ["create alice", "create alice"])
        await app.disconnect()
    }

    @Test("A sign-in that loses every connection fails in the end, and the next call tries again")
    func lostAgain() async throws {
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        let registration = transport.stub(where: { $0.path == "authentication" }, with: .unanswered)
        let signIn = Task { await failure { try await app.authenticate(alice()) } }
        for number in 1...3 {
            try await transport.waitForRequest(number: number)
            transport.drop()
            if number < 3 { transport.restore() }
        }
        #expect(await signIn.value?.code == .unavailable)
        #expect(app.authentication == .signedOut)
        transport.removeStub(registration)
        transport.restore()
        #expect(try await app.authenticate(alice()).accessToken == "alice")
        await app.disconnect()
    }

    @Test("A log-out without a connection is not made up for when another user has signed in")
    func offlineLogOut() async throws {
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        try await app.authenticate(alice())
        transport.drop()
        try await transport.waitForStatus { if case .waiting = $0 { true } else { false } }
        try await app.logOut()
        async let bob = app.authenticate(alice("bob"))
        try await transport.waitForWaitingCalls(1)
        transport.restore()
        #expect(try await bob.accessToken == "bob")
        _ = try await app.service("messages").find()
        #expect(asked == ["create alice", "create bob"])
        await app.disconnect()
    }

    @Test("A log-out that hooks have held up is not sent after another user has signed in")
    func lateLogOut() async throws {
        let (entered, gate) = (Promise<Void>(), Promise<Void>())
        app.use(
            hooks: Hooks(around: [
                { context, next in
                    if context.method == .remove {
                        entered.resolve(())
                        try await gate.value()
                    }
                    try await next(&context)
                }
            ]))
        try app.use(authentication: AuthenticationOptions())
        try await app.connect()
        try await app.authenticate(alice())
        let logOut = Task { try await app.logOut() }
        try await entered.value()
        try await app.authenticate(alice("bob"))
        gate.resolve(())
        try await logOut.value
        #expect(asked == ["create alice", "create bob"])
        #expect(app.authentication.result?.accessToken == "bob")
        await app.disconnect()
    }

    @Test("A sign-in given up before there was a connection is never sent")
    func abandoned() async throws {
        try app.use(authentication: AuthenticationOptions())
        let signIn = Task { try await app.authenticate(alice()) }
        try await transport.waitForWaitingCalls(1)
        signIn.cancel()
        await #expect(throws: CancellationError.self) { try await signIn.value }
        #expect(app.authentication == .signedOut)
        try await app.connect()
        _ = try await app.service("messages").find()
        #expect(asked == [])
        await app.disconnect()
    }
}

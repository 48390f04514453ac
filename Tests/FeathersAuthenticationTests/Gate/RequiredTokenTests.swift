import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// An app that requires tokens makes no call of its own user unless it is marked.
@Suite(.timeLimit(.minutes(10))) struct RequiredTokenTests {
    /// Whether a user is signed in to the app.
    enum State: CaseIterable, Sendable {
        case signedOut, stored, signedIn, expired

        func app(_ server: SampleServer, _ configure: (FeathersApp) -> Void = { _ in }) async throws -> FeathersApp {
            let storage = InMemoryTokenStorage(self == .signedOut ? [:] : ["feathers-jwt": "own"])
            let app = try FeathersApp.sample(server, storage: storage) { $0.requiresToken = true }
            configure(app)
            switch self {
            case .signedOut, .stored: break
            case .signedIn: try await app.reauthenticate()
            case .expired:
                try await app.reauthenticate()
                server.change { $0.rejected = ["own"] }
                _ = try? await app.asOwnUser { try await app.service("messages").rawFind() }
                server.change { $0.rejected = [] }
            }
            return app
        }
    }

    typealias Call = @Sendable (Service<JSONValue>) async throws -> Void

    static let calls: [(name: String, call: Call)] = [
        ("find", { _ = try await $0.rawFind() }),
        ("get", { _ = try await $0.get(1) }),
        ("create", { _ = try await $0.create(["a": 1]) }),
        ("update", { _ = try await $0.update(1, with: ["a": 1]) }),
        ("patch", { _ = try await $0.patch(1, with: ["a": 1]) }),
        ("removeAll", { _ = try await $0.removeAll(query: Query()) }),
        ("remove", { _ = try await $0.remove(1) }),
        ("custom", { _ = try await $0.call("archive", with: .null) }),
        ("no token", { _ = try await $0.rawFind(params: Params(token: nil)) }),
        ("no field", { _ = try await $0.rawFind(params: Params(headers: ["Authorization": "Bearer "])) }),
        ("stream", { for try await _ in $0.stream(.get, id: 1) {} }),
        ("pages", { _ = try await $0.pages(of: 1).makeAsyncIterator().nextPage() }),
        ("request", { _ = try await $0.respond(to: ServiceRequest(path: "", method: .get, id: 1)) }),
    ]

    @Test(arguments: State.allCases) func `No call without a token is sent, whoever is signed in`(state: State)
        async throws
    {
        let server = SampleServer()
        let app = try await state.app(server)
        let before = server.transport.requests.count
        for (name, call) in Self.calls {
            let error = await failure { try await call(app.service("messages")) }
            #expect(error?.code == .notAuthenticated && error?.execution == .neverSent, "\(name)")
            #expect(error?.message.contains("on service 'messages' has no token") == true, "\(name)")
            #expect(error?.message.contains("'withToken'") == true && error?.message.contains("'asOwnUser'") == true)
        }
        #expect(server.transport.requests.count == before)
    }

    @Test func `Calls that are marked as the app's own are its user's, also within a scope`() async throws {
        let server = SampleServer()
        let app = try await State.signedIn.app(server)
        let messages = app.service("messages")
        let sent = { server.requests(to: "messages").map { $0.params.headers["Authorization"] } }
        try await app.asOwnUser {
            _ = try await messages.rawFind()
            async let child = messages.rawFind()
            _ = try await child
            try await app.withToken("theirs") {
                _ = try await messages.rawFind()
                _ = try await app.asOwnUser { try await messages.rawFind() }
            }
            _ = try await messages.rawFind(params: Params(token: "call"))
        }
        #expect(sent() == ["own", "own", "theirs", "own", "call"].map { "Bearer \($0)" })
        #expect(await failure { try await messages.rawFind() }?.code == .notAuthenticated)
    }

    @Test func `What is created in a scope keeps its user when it is read later`() async throws {
        let server = SampleServer()
        let app = try await State.signedIn.app(server)
        let messages = app.service("messages")
        let made = { (messages.stream(.find), messages.pages(of: 1), messages.cached.get(1)) }
        let (outside, own, theirs) = (
            made(), await app.asOwnUser { made() }, await app.withToken("theirs") { made() }
        )
        @Sendable func read(
            _ made: (AsyncThrowingStream<JSONValue, any Error>, Pages<JSONValue>, CachedResults<JSONValue>)
        ) async -> [FeathersError?] {
            [
                await failure { for try await _ in made.0 {} },
                await failure { _ = try? await made.1.makeAsyncIterator().nextPage() },
                await failure { try await made.2.first() },
            ]
        }
        _ = await read(own)
        await app.withToken("another") { _ = await read(theirs) }
        let expected = Array(repeating: "Bearer own", count: 3) + Array(repeating: "Bearer theirs", count: 3)
        let sent = { server.requests(to: "messages").map { $0.params.headers["Authorization"] } }
        #expect(sent() == expected)
        // Where it is read does not make it anyone's.
        _ = await app.withToken("another") { await read(outside) }
        _ = await app.asOwnUser { await read(outside) }
        #expect(sent() == expected)
    }

    @Test func `A hook may set the token, and none may drop the user`() async throws {
        let server = SampleServer()
        let app = try await State.signedIn.app(server)
        let sent = { server.requests(to: "messages").map { $0.params.headers["Authorization"] } }
        await app.service("set").use(
            hooks: Hooks(before: [
                { context in
                    context.params.token = "hook"
                    _ = try await context.app.service("messages").rawFind(params: context.params)
                    context.result = "done"
                }
            ]))
        #expect(try await app.service("set").rawFind() == "done")
        #expect(sent() == ["Bearer hook"])
        // A call whose header field a hook drops would be made as the app's user.
        await app.service("messages").use(hooks: Hooks(before: [{ $0.params = Params() }]))
        let field = Params(headers: ["authorization": "Bearer field"])
        let dropped = await failure { try await app.service("messages").rawFind(params: field) }
        #expect(dropped?.code == .notAuthenticated && dropped?.execution == .neverSent)
        _ = try await app.withToken("scope") { try await app.service("messages").rawFind() }
        _ = try await app.asOwnUser { try await app.service("messages").rawFind() }
        #expect(sent() == ["Bearer hook", "Bearer scope", "Bearer own"])
        // A hook that responds itself does so for no one either.
        await app.service("known").use(hooks: Hooks(before: [{ $0.result = "of the app's user" }]))
        #expect(await failure { try await app.service("known").rawFind() }?.code == .notAuthenticated)
    }

    @Test func `A hook's detached task has lost its user`() async throws {
        let server = SampleServer()
        let app = try await State.signedIn.app(server)
        let error = Locked<FeathersError?>(nil)
        await app.service("messages").use(
            hooks: Hooks(after: [
                { context in
                    let other = context.app.service("other")
                    let failed = await Task.detached { await failure { try await other.rawFind() } }.value
                    error.withLock { $0 = failed }
                }
            ]))
        _ = try await app.withToken("theirs") { try await app.service("messages").rawFind() }
        #expect(error.withLock { $0 }?.code == .notAuthenticated)
        #expect(server.requests(to: "other").isEmpty)
    }

    @Test func `A repeated call has the token of the first attempt, or none`() async throws {
        let server = SampleServer()
        let failures = Locked(1)
        server.transport.stub(
            "busy",
            with: ServiceStub { request in
                let isFailing = failures.withLock { count in
                    count -= 1
                    return count >= 0
                }
                if isFailing { throw FeathersError(.unavailable, "later") }
                return .string(request.params.headers["Authorization"] ?? "none")
            })
        let app = try await State.signedIn.app(server) { $0.use(hooks: .retrying(attempts: 3, pause: .zero)) }
        #expect(try await app.withToken("theirs") { try await app.service("busy").rawFind() } == "Bearer theirs")
        #expect(await failure { try await app.service("busy").rawFind() }?.code == .notAuthenticated)
    }

    @Test func `Event streams end at once, with an error in the diagnostics`() async throws {
        let server = SampleServer()
        let log = Locked<[String]>([])
        let app = try await State.signedIn.app(server) { app in
            app.use(diagnostics: .closure { event in log.withLock { $0.append(event.message) } })
        }
        let messages = app.service("messages")
        @Sendable func read() async -> Int {
            var count = 0
            for await _ in messages.events(.created) { count += 1 }
            for await _ in messages.events(.created, as: JSONValue.self) { count += 1 }
            for await _ in messages.events(nil) { count += 1 }
            for await _ in messages.changes() { count += 1 }
            for await _ in messages.deliveries() { count += 1 }
            for await _ in messages.eventDeliveries() { count += 1 }
            return count
        }
        #expect(await read() == 0)
        #expect(await app.withToken("theirs") { await read() } == 0)
        let reports = log.withLock { $0.filter { $0.contains("'asOwnUser'") && $0.contains("'messages'") } }
        #expect(reports.count == 12)
        let events = await app.asOwnUser { messages.events(.created) }
        messages.emit(.created, 1)
        #expect(try await events.first() == 1)
    }

    @Test func `Local services need a token too, and call others for its user`() async throws {
        actor Facade: ServiceProtocol {
            let app: FeathersApp
            init(_ app: FeathersApp) { self.app = app }
            func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
                #expect(params[Authentication.self] == nil)
                return try await app.service("messages").rawFind()
            }
        }
        let server = SampleServer()
        let app = try await State.signedIn.app(server)
        try await app.use(Facade(app), at: "facade")
        let error = await failure { try await app.service("facade").get(1) }
        #expect(error?.code == .notAuthenticated && error?.message.contains("'get' on service 'facade'") == true)
        _ = try await app.withToken("theirs") { try await app.service("facade").get(1) }
        #expect(server.requests(to: "messages").map { $0.params.headers["Authorization"] } == ["Bearer theirs"])
        try await app.unuse("facade")
    }

    @Test(arguments: [true, false]) func `A mounted app requires what the app does in which it is mounted`(
        isMountedFirst: Bool
    ) async throws {
        let server = SampleServer()
        let sub = try FeathersApp.sample(server, storage: InMemoryTokenStorage(["feathers-jwt": "subs"]))
        try await sub.use(server.transport, at: "messages")
        let app = FeathersApp(transport: server.transport)
        if isMountedFirst { app.use(sub, at: "sub") }
        try app.use(
            authentication: AuthenticationOptions(storage: InMemoryTokenStorage()) { $0.requiresToken = true })
        if !isMountedFirst { app.use(sub, at: "sub") }
        let messages = app.service("sub/messages")
        #expect(await failure { try await messages.rawFind() }?.code == .notAuthenticated)
        #expect(server.requests(to: "messages").isEmpty)
        _ = try await app.asOwnUser { try await messages.rawFind() }
        _ = try await sub.asOwnUser { try await messages.rawFind() }
        _ = try await app.withToken("theirs") { try await messages.rawFind() }
        #expect(server.requests(to: "messages").count == 3)
    }

    @Test func `Signing in, refreshing with a function that makes calls, and logging out need no mark`() async throws {
        let server = SampleServer()
        let app = FeathersApp(transport: server.transport)
        let refresh = TokenRefresh.function { [weak app] _ in
            _ = try await app?.service("vault").rawFind()
            return .tokens(.init(accessToken: "new"))
        }
        try app.use(authentication: AuthenticationOptions(refresh: refresh) { $0.requiresToken = true })
        server.transport.stub("vault", with: .value([]))
        try await app.authenticate(.local(email: "a", password: "p"))
        server.change { $0.rejected = ["issued"] }
        _ = try await app.asOwnUser { try await app.service("messages").rawFind() }
        #expect(server.requests(to: "messages").last?.params.headers["Authorization"] == "Bearer new")
        #expect(server.requests(to: "vault").count == 1)
        try await app.withToken("theirs") { try await app.logOut() }
        #expect(server.requests(to: "authentication").map(\.method) == [.create, .remove])
    }

    @Test func `Setup and background work are unmarked, so that a server may run in them`() async throws {
        let server = SampleServer()
        let app = try await State.signedIn.app(server)
        let (errors, continuation) = AsyncStream.makeStream(of: FeathersError?.self)
        let call: @Sendable (FeathersApp) async -> Void = { app in
            continuation.yield(await failure { try await app.service("messages").rawFind() })
        }
        app.use(setUp: [
            { app, next in
                await call(app); try await next()
            }
        ])
        app.use(backgroundWork: call)
        try await app.asOwnUser {
            try await withFeathersApp(app) { _ in
                var seen = errors.makeAsyncIterator()
                for _ in 1...2 { #expect(await seen.next()??.code == .notAuthenticated) }
            }
        }
        #expect(server.requests(to: "messages").isEmpty)
    }

    @Test(arguments: ["Bearer abc", "bearer abc", "BEARER abc", "Bearer "])
    func `A token with the scheme before it is refused with that word`(token: String) async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server)
        let errors = [
            await failure { try await app.withToken(token) { try await app.service("messages").rawFind() } },
            await failure { try await app.service("messages").rawFind(params: Params(token: token)) },
        ]
        for error in errors {
            #expect(error?.code == .badRequest && error?.execution == .neverSent)
            #expect(error?.message.contains("'Bearer'") == true && error?.message.contains("abc") == false)
        }
        #expect(server.transport.requests.isEmpty)
    }
}

extension Pages.AsyncIterator {
    /// Reads a page with a copy of the iterator.
    fileprivate func nextPage() async throws -> Page<Model>? {
        var iterator = self
        return try await iterator.next()
    }
}

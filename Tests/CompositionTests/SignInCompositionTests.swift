import Feathers
import FeathersCore
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersTesting

/// Calls, writes and connections while the signed-in user changes.
@Suite(.timeLimit(.minutes(10))) struct SignInCompositionTests {
    @Test(arguments: Way.allCases)
    func `Queued writes are sent in the name of the user who queued them`(way: Way) async throws {
        let server = ModelServer()
        let folder = try TemporaryFolder()
        let outbox = try await Outbox(file: folder.url.appending(path: "writes.outbox")) {
            ($0.isKeyed, $0.keyPlaces) = (true, [.recordID()])
        }
        let model = try server.app(over: way, [.outbox, .authentication], outbox: outbox)
        try await model.connected { app in
            try await app.signIn("alice")
            server.setAway(true, model)
            let write = try await app.notes.outbox.create(["text": "hers"], query: ["claim": "alice"])
            // The server cannot be told.
            try? await app.logOut()
            server.setAway(false, model)
            try await model.waitUntilConnected()
            #expect(outbox.state.entries.isEmpty)
            try await app.signIn("bob")
            outbox.retryNow()
            _ = try await app.notes.outbox.create(["text": "his"], query: ["claim": "bob"]).result()
            #expect(server.arrivals(at: "notes", .create).map(\.user) == ["bob"])
            #expect(outbox.state.entries.isEmpty)
            try await app.signIn("alice")
            outbox.retryNow()
            #expect(try await write.result()["owner"] == "alice")
            #expect(server.arrivals(at: "notes", .create).map(\.user) == ["bob", "alice"])
        }
        await outbox.close()
    }

    @Test(arguments: [ServiceMethod.find, .create])
    func `A streamed read ends with its user, a streamed write does not`(method: ServiceMethod) async throws {
        let model = try ModelServer().app(over: .rest)
        let (items, continuation) = AsyncThrowingStream.makeStream(of: JSONValue.self)
        try await model.connected { app in
            try await app.signIn("alice")
            let tokens = try await app.use(StreamingService(items: items), at: "tokens")
            var reader = tokens.stream(method).makeAsyncIterator()
            continuation.yield(["n": 1])
            #expect(try await reader.next(isolation: #isolation) == ["n": 1])
            // One waits for the reader already, and one arrives later.
            continuation.yield(["n": 2])
            try await app.logOut()
            try await app.signIn("bob")
            continuation.yield(["n": 3])
            if method == .create {
                #expect(try await reader.next(isolation: #isolation) == ["n": 2])
                #expect(try await reader.next(isolation: #isolation) == ["n": 3])
            } else {
                #expect(await failure { try await reader.next(isolation: #isolation) }?.code == .notAuthenticated)
            }
        }
    }

    private actor StreamingService: ServiceProtocol {
        private let items: AsyncThrowingStream<JSONValue, any Error>

        init(items: AsyncThrowingStream<JSONValue, any Error>) { self.items = items }

        func respond(to request: ServiceRequest) async throws -> ServiceResponse { ServiceResponse(stream: items) }
    }

    @Test func `A sign-in made while the connection opens counts as a success`() async throws {
        let server = ModelServer()
        let model = try server.app(over: .socket)
        let failures = Counter()
        model.app.recordMetrics()
        model.app.use(
            hooks: Hooks(around: [
                { context, next in
                    do { try await next(&context) } catch {
                        failures.add()
                        throw error
                    }
                }
            ]))
        model.connection?.drop()
        try await withFeathersApp(model.app) { app in
            async let result = app.signIn("alice")
            try await model.connection?.waitForWaitingCalls(1)
            model.connection?.restore()
            _ = try await result
            try await model.waitUntilConnected()
            #expect(try await app.notes.find().data == [])
            #expect(failures.count == 0)
            let calls = app.metrics.calls.first { $0.path == "authentication" && $0.method == "create" }
            #expect(calls?.outcomes.filter { $0.key.errorType == nil }.map(\.value) == [1])
            #expect(calls?.outcomes.keys.contains { $0.errorType == "cancelled" } == false)
        }
    }

    @Test(arguments: Way.allCases)
    func `A refused write is not repeated as the next user`(way: Way) async throws {
        let server = ModelServer()
        let model = try server.app(over: way)
        try await model.connected { app in
            try await app.signIn("alice")
            server.endTokens(of: "alice", refreshable: true)
            server.hold("notes", .create)
            async let hers = failure { try await app.notes.create(["text": "hers"]) }
            try await server.waitForArrivals(at: "notes", .create)
            try await app.logOut()
            try await app.signIn("bob")
            server.release("notes", .create)
            // Over a connection, the call ends with it.
            #expect(await hers?.code == (way.callsNeedConnection ? .unavailable : .notAuthenticated))
            #expect(server.arrivals(at: "notes", .create).count == 1)
        }
    }

    @Test func `Calls queued offline fail when the user changes`() async throws {
        let server = ModelServer()
        let model = try server.app(over: .socket)
        try await model.connected { app in
            try await app.signIn("alice")
            model.connection?.drop()
            async let hers = failure { try await app.notes.create(["text": "hers"]) }
            async let news = failure { try await app.service("news").create(["text": "hers"]) }
            try await model.connection?.waitForWaitingCalls(2)
            try await app.logOut()
            #expect(await hers?.execution == .neverSent)
            #expect(await news?.execution == .neverSent)
            model.connection?.restore()
            try await app.signIn("bob")
            #expect(server.arrivals.isEmpty)
        }
    }

    @Test(arguments: Way.allCases)
    func `A repetition is not sent as the next user`(way: Way) async throws {
        let (server, clock) = (ModelServer(), ManualClock())
        let model = try server.app(over: way)
        try await model.connected { app in
            await app.notes.use(hooks: .retrying(clock: clock))
            try await app.signIn("alice")
            server.setAway(true, model)
            var params = Params()
            params.isVolatile = true
            async let hers = failure { [params] in try await app.notes.create(["text": "hers"], params: params) }
            try await clock.waitForSleepers(1)
            try? await app.logOut()
            server.setAway(false, model)
            try await app.signIn("bob")
            clock.advance(by: .seconds(1))
            #expect(await hers?.execution == .neverSent)
            #expect(server.arrivals(at: "notes", .create).isEmpty)
        }
    }

    @Test func `A repetition of a write that nobody made is not sent as the next user`() async throws {
        let (clock, hold) = (ManualClock(), Promise<Void>())
        let transport = StubTransport { request in
            guard request.path == "notes" else { return ["accessToken": "token", "user": ["id": "bob"]] }
            try await hold.value()
            throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
        }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        await app.service("notes").use(hooks: .retrying(clock: clock))
        async let created = failure { try await app.service("notes").create(["text": "nobody's"]) }
        try await transport.waitForRequest(number: 1)
        try await app.authenticate(.local(email: "bob", password: "p"))
        hold.resolve(())
        #expect(await created?.execution == .neverSent)
        #expect(transport.requests.filter { $0.path == "notes" }.count == 1)
    }

    @Test func `A repetition for the user of a token does not depend on who is signed in to the app`() async throws {
        let (clock, attempts) = (ManualClock(), Locked(0))
        let transport = StubTransport { request in
            guard request.path == "notes" else { return ["accessToken": "token", "user": ["id": "gateway"]] }
            let isFirst = attempts.withLock { attempts in
                attempts += 1
                return attempts == 1
            }
            if isFirst {
                throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
            }
            return ["text": "hers"]
        }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        let notes = app.service("notes")
        await notes.use(hooks: .retrying(clock: clock))
        try await app.authenticate(.local(email: "gateway", password: "p"))
        let created = Task { try await app.withToken("hers") { try await notes.create(["text": "hers"]) } }
        try await clock.waitForSleepers(1)
        try await app.logOut()
        clock.advance(by: .seconds(1))
        #expect(try await created.value["text"] == "hers")
        let sent = transport.requests.filter { $0.path == "notes" }
        #expect(sent.map { $0.params.headers["Authorization"] } == ["Bearer hers", "Bearer hers"])
    }

    @Test func `A response to a caller's own token in another field is not cached for the user`() async throws {
        let transport = StubTransport { request in
            request.path == "authentication"
                ? ["accessToken": "alice", "user": ["id": "alice"]]
                : .string(request.params.headers.first { $0.key.lowercased() == "x-token" }?.value ?? "nobody")
        }
        let app = FeathersApp(transport: transport)
        app.use(cache: ServiceCache(MemoryCacheStorage(), policy: .cacheFirstNetworkIfNotFoundOrExpired))
        try app.use(authentication: AuthenticationOptions { ($0.header, $0.scheme) = ("X-Token", "") })
        try await app.authenticate(.local(email: "alice", password: "p"))
        let notes = app.service("notes")
        #expect(try await notes.rawFind(params: Params(headers: ["x-token": "bob"])) == "bob")
        #expect(try await notes.rawFind() == "alice")
        #expect(try await notes.rawFind(params: Params(headers: ["X-Token": "bob"])) == "bob")
    }

    @Test(arguments: [0, 2])
    func `The pages of a list are those of one user`(prefetch: Int) async throws {
        let transport = StubTransport { request in
            let skip = request.params.query.json["$skip"]?.integer ?? 0
            return [
                "total": 9, "limit": 3, "skip": .integer(skip),
                "data": .array((0..<3).map { ["id": .integer(skip + $0)] }),
            ]
        }
        let app = FeathersApp(transport: transport)
        app.setIdentity(Identity("alice"))
        var pages = app.service("notes").pages(of: 3, prefetching: prefetch).makeAsyncIterator()
        #expect(try await pages.next()?.data.count == 3)
        var records = app.service("notes").pages(of: 3).records.makeAsyncIterator()
        #expect(try await records.next()?["id"] == 0)
        app.setIdentity(Identity("bob"))
        await #expect { try await pages.next() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        await #expect { try await records.next() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
    }

    @Test(arguments: Way.allCases)
    func `A call that waits for its turn is not sent once its user has signed out`(way: Way) async throws {
        let server = ModelServer()
        let waiting = Counter()
        let model = try server.app(
            over: way, [.traffic, .authentication], traffic: [.limiting(to: 1, onWaiting: { _ in waiting.add() })])
        try await model.connected { app in
            try await app.signIn("alice")
            server.hold("notes", .find)
            async let first = failure { try await app.notes.find() }
            try await server.waitForArrivals(at: "notes", .find)
            async let second = failure { try await app.notes.create(["text": "hers"]) }
            try await waiting.wait(for: 1)
            // Over REST, the log-out's own call waits for a turn too.
            var updates = app.identityUpdates().makeAsyncIterator()
            async let loggedOut: Void = app.logOut()
            while let identity = await updates.next(), identity != nil {}
            server.release("notes", .find)
            #expect(await first?.code == .notAuthenticated)
            #expect(await second?.execution == .neverSent)
            try await loggedOut
            #expect(server.arrivals(at: "notes", .create).isEmpty)
        }
    }

    @Test(arguments: Way.allCases)
    func `A call that waits for a renewed token is not sent as the next user`(way: Way) async throws {
        let (server, clock) = (ModelServer(), ManualClock())
        let model = try server.app(over: way, clock: clock)
        try await model.connected { app in
            try await app.signIn("alice")
            server.endTokens(of: "alice", refreshable: true)
            server.hold("refresh-tokens", .create)
            let params = Params(timeout: .seconds(10))
            async let first = failure { try await app.notes.create(["text": "hers"], params: params) }
            try await server.state.wait { $0.arrivals.count == 1 && $0.refreshed == 1 }
            try await clock.waitForSleepers(1)
            async let second = failure { try await app.notes.create(["text": "hers too"], params: params) }
            try await clock.waitForSleepers(2)
            try await app.signIn("bob")
            server.release("refresh-tokens", .create)
            #expect(await first?.code == .notAuthenticated)
            #expect(await second?.code == .notAuthenticated)
            #expect(await second?.execution == .neverSent)
            #expect(server.arrivals(at: "notes", .create).allSatisfy { $0.user != "bob" })
        }
    }

    @Test(arguments: [Way.socket, .mixed])
    func `The server knows who signed in offline after a log-out`(way: Way) async throws {
        let server = ModelServer()
        let model = try server.app(over: way)
        try await model.connected { app in
            try await app.signIn("alice")
            // The connection alone is away: over REST, the sign-in goes beside it.
            model.connection?.drop()
            try await app.logOut()
            async let signedIn = failure { try await app.signIn("bob") }
            if way == .socket { try await model.connection?.waitForWaitingCalls(1) } else { _ = await signedIn }
            model.connection?.restore()
            #expect(await signedIn == nil)
            try await model.waitUntilConnected()
            #expect(app.authentication.result?.user == ["id": "bob"])
            #expect(try await app.notes.find().data == [])
            #expect(server.arrivals.last?.user == "bob")
        }
    }

    @Test(arguments: Way.allCases)
    func `A call's timeout counts while it waits for a sign-in`(way: Way) async throws {
        let (server, clock) = (ModelServer(), ManualClock())
        let model = try server.app(over: way, clock: clock)
        try await model.connected { app in
            server.hold("authentication", .create)
            async let signedIn = app.signIn("alice")
            var updates = app.authenticationUpdates().makeAsyncIterator()
            while let state = await updates.next(), state != .authenticating {}
            async let call = failure { try await app.notes.find(params: Params(timeout: .milliseconds(500))) }
            try await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(500))
            let error = await call
            #expect(error?.code == .timeout)
            #expect(error?.execution == .neverSent)
            server.release("authentication", .create)
            _ = try await signedIn
        }
    }

    @Test(arguments: Way.allCases)
    func `Nothing is answered as the last user while a log-out is on its way`(way: Way) async throws {
        let server = ModelServer()
        let model = try server.app(over: way)
        try await model.connected { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            // The log-out is on its way; calls made meanwhile are no one's.
            server.hold("authentication", .remove)
            async let loggedOut: Void = app.logOut()
            var updates = app.identityUpdates().makeAsyncIterator()
            while let identity = await updates.next(), identity != nil {}
            async let call = failure { try await app.notes.find() }
            server.release("authentication", .remove)
            #expect(await call?.code == .notAuthenticated)
            try await loggedOut
        }
    }
}

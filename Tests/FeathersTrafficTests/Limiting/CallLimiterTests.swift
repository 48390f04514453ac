import Feathers
import FeathersTesting
import Testing

@Suite("Limited calls", .timeLimit(.minutes(10)))
struct CallLimiterTests {
    private let clock = ManualClock()
    private let waiters = CountedWaiters()

    /// A server that takes a second for every call.
    private func app() -> (app: FeathersApp, transport: StubTransport) {
        let clock = clock
        let transport = StubTransport { request in
            try await clock.sleep(for: .seconds(1))
            return request.data ?? .null
        }
        return (FeathersApp(transport: transport), transport)
    }

    /// Lets the server answer what it has been asked.
    private func answer() async throws {
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
    }

    @Test("So many calls are made at once, the others after them in their order")
    func order() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, onWaiting: waiters.report))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.service("a").create(0) }
            try await transport.waitForRequest(number: 1)
            for number in 1..<4 {
                group.addTask { try await app.service("b").create(.integer(Int64(number))) }
                await waiters.wait(for: number)
            }
            for number in 1..<4 {
                #expect(transport.requests.count == number)
                try await answer()
                try await transport.waitForRequest(number: number + 1)
            }
            try await answer()
            try await group.waitForAll()
        }
        #expect(transport.requests.map(\.data) == [0, 1, 2, 3])
    }

    @Test("A service's limit counts its own calls, the app's all of them")
    func levels() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 2, onWaiting: waiters.report))
        await app.service("a").use(hooks: .limiting(to: 1, onWaiting: waiters.report))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.service("a").create(1) }
            try await transport.waitForRequest(number: 1)
            group.addTask { try await app.service("b").create(2) }
            try await transport.waitForRequest(number: 2)
            for path in ["a", "b"] { group.addTask { try await app.service(path).create(3) } }
            await waiters.wait(for: 2)
            #expect(transport.requests.count == 2)
            group.cancelAll()
        }
    }

    @Test("Each service, or each of its users, can have a limit of its own", arguments: Hooks.CallGroup.allCases)
    func groups(_ group: Hooks.CallGroup) async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, waiting: 0, per: group))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await app.withToken("a") { _ = try await app.service("a").create(1) } }
            try await transport.waitForRequest(number: 1)
            var sent = 1
            for (token, path, sharing) in [
                ("a", "a", Hooks.CallGroup.allCases), ("b", "a", [.service, .all]), ("a", "b", [.all]),
            ] {
                let isFull = sharing.contains(group)
                let call = Task { try await app.withToken(token) { try await app.service(path).create(2) } }
                if isFull {
                    _ = await #expect(
                        performing: { try await call.value }, throws: { FeathersError.Code.tooManyRequests ~= $0 })
                } else {
                    sent += 1
                    try await transport.waitForRequest(number: sent)
                    call.cancel()
                }
            }
            tasks.cancelAll()
        }
    }

    @Test("A call that waits can be cancelled, and the others keep their turns")
    func cancellation() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, onWaiting: waiters.report))
        async let first = app.service("a").create(1)
        try await transport.waitForRequest(number: 1)
        let second = Task { try await app.service("a").create(2) }
        await waiters.wait(for: 1)
        let third = Task { try await app.service("a").create(3) }
        await waiters.wait(for: 2)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await answer()
        #expect(try await first == 1)
        try await transport.waitForRequest(number: 2)
        try await answer()
        #expect(try await third.value == 3)
        #expect(transport.requests.map(\.data) == [1, 3])
    }

    @Test("A cancelled call, or one that fails, gives its turn back")
    func turnGivenBack() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1))
        for number in 1...3 {
            let call = Task { try await app.service("a").create(1) }
            try await transport.waitForRequest(number: number)
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        transport.stub("a", .find, with: .error(FeathersError(.notFound, "-")))
        for _ in 0..<3 {
            await #expect { try await app.service("a").find() } throws: { FeathersError.Code.notFound ~= $0 }
        }
    }

    @Test("A call that finds the queue full fails at once, names itself and was never sent")
    func full() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, waiting: 0))
        let first = Task { try await app.service("a").create(1) }
        try await transport.waitForRequest(number: 1)
        await #expect {
            try await app.service("messages").create(2)
        } throws: { error in
            FeathersError.Code.tooManyRequests ~= error && (error as? FeathersError)?.execution == .neverSent
                && "\(error)".contains("'create' on service 'messages' was not sent")
        }
        first.cancel()
    }

    @Test("A full queue is worth another try")
    func fullThenRetried() async throws {
        let (app, transport) = app()
        app.use(hooks: .retrying(attempts: 2, pause: .seconds(3), clock: clock))
        app.use(hooks: .limiting(to: 1, waiting: 0))
        async let first = app.service("a").create(1)
        try await transport.waitForRequest(number: 1)
        async let second = app.service("a").create(2)
        try await clock.waitForSleepers(2)
        try await answer()
        #expect(try await first == 1)
        clock.advance(by: .seconds(2))
        try await transport.waitForRequest(number: 2)
        try await answer()
        #expect(try await second == 2)
    }

    @Test("Waiting counts into a call's time: what is left is the transport's")
    func timeLeft() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, clock: clock, onWaiting: waiters.report))
        async let first = app.service("a").create(1)
        try await transport.waitForRequest(number: 1)
        async let second = app.service("a").create(2, params: Params(timeout: .seconds(5000)))
        await waiters.wait(for: 1)
        try await clock.waitForSleepers(2)
        try await answer()
        #expect(try await first == 1)
        #expect(try await transport.waitForRequest(number: 2).params.timeout == .seconds(4999))
        try await answer()
        #expect(try await second == 2)
    }

    @Test("A call whose time ends while it waits fails with a timeout, and was never sent", arguments: [true, false])
    func timeout(isItsOwn: Bool) async throws {
        let clock = clock
        let transport = StubTransport { _ in
            try await clock.sleep(for: .seconds(100))
            return .null
        }
        let app = FeathersApp(transport: transport)
        app.use(hooks: .limiting(to: 1, longestWait: .seconds(isItsOwn ? 50 : 5), clock: clock) { _ in })
        let first = Task { try await app.service("a").create(1) }
        try await transport.waitForRequest(number: 1)
        let second = Task {
            try await app.service("a").create(2, params: Params(timeout: isItsOwn ? .seconds(5) : nil))
        }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        await #expect {
            try await second.value
        } throws: { error in
            FeathersError.Code.timeout ~= error && (error as? FeathersError)?.execution == .neverSent
                && "\(error)".contains("'create' on service 'a' was not sent within 5.0 seconds")
        }
        first.cancel()
    }

    @Test("A sign-in that calls wait for needs no turn", arguments: [true, false])
    func signIn(isLimitedFirst: Bool) async throws {
        let transport = StubTransport()
        transport.stub("authentication", .create, with: .value(["accessToken": "token"]))
        transport.stub("messages", .find, with: .value([]))
        let app = FeathersApp(transport: transport)
        if isLimitedFirst { app.use(hooks: .limiting(to: 1, waiting: 0)) }
        let storage = InMemoryTokenStorage()
        try await storage.store("stored", for: "feathers-jwt")
        try app.use(authentication: AuthenticationOptions(storage: storage))
        if !isLimitedFirst { app.use(hooks: .limiting(to: 1, waiting: 0)) }
        let found = try await withFeathersApp(app) { try await $0.service("messages").find() }
        #expect(found.data == [])
        #expect(transport.requests.map(\.path) == ["authentication", "messages"])
    }

    @Test("An app with limits can be released")
    func released() async throws {
        func used() async throws -> FeathersApp {
            let app = FeathersApp(transport: StubTransport { _ in [] })
            app.use(hooks: .limiting(to: 1))
            app.use(hooks: .coalescingReads())
            _ = try await app.service("a").find()
            return app
        }
        var app: FeathersApp? = try await used()
        weak let released = app
        app = nil
        #expect(released == nil)
    }

    @Test("What a local service calls in its turn needs none of its own")
    func nested() async throws {
        actor Outer: ServiceProtocol {
            private let app: FeathersApp

            init(app: FeathersApp) { self.app = app }

            func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
                try await app.service("inner").get(id)
            }
        }
        let app = FeathersApp()
        try await app.use(MemoryService(), at: "inner")
        try await app.use(Outer(app: app), at: "outer")
        app.use(hooks: .limiting(to: 1, waiting: 0))
        try await app.service("inner").create(["id": 7])
        #expect(try await app.service("outer").get(7)["id"] == 7)
        try await app.unuse("outer")
    }
}

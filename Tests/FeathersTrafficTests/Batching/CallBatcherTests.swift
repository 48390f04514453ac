import Feathers
import FeathersTesting
import Testing

@Suite("Batched calls", .timeLimit(.minutes(10)))
struct CallBatcherTests {
    private let clock = ManualClock()
    private let waiters = CountedWaiters()

    /// A server whose batch service answers each call with its arguments, and refuses those of id 404.
    private func app(
        services: [String]? = nil, methods: Set<ServiceMethod> = [.find, .get, .create], limit: Int = 50
    ) -> (app: FeathersApp, transport: StubTransport) {
        let transport = StubTransport { request in
            guard request.path == "batch" else { return .string("\(request.method) \(request.path)") }
            return .array(
                (request.data?["calls"]?.array ?? []).map { call in
                    if call[2] == 404 { return ["status": "rejected", "reason": ["name": "NotFound", "message": "No record"]] }
                    return ["status": "fulfilled", "value": call]
                })
        }
        let app = FeathersApp(transport: transport)
        app.use(
            hooks: .batching(
                over: "batch", services: services, methods: methods, window: .seconds(1), limit: limit, clock: clock,
                onJoining: waiters.report))
        return (app, transport)
    }

    @Test("Calls of one window go out in one, and each gets its own result or error")
    func gathered() async throws {
        let (app, transport) = app()
        async let first = app.service("messages").find(.where("a", 1))
        try await clock.waitForSleepers(1)
        async let second = app.service("users").get(7, query: .selecting("name"))
        await waiters.wait(for: 1)
        async let third = app.service("messages").create(["text": "Hi"])
        await waiters.wait(for: 2)
        let missing = Task { try await app.service("users").get(404) }
        await waiters.wait(for: 3)
        clock.advance(by: .seconds(1))
        #expect(try await first == ["find", "messages", ["a": 1]])
        #expect(try await second == ["get", "users", 7, ["$select": ["name"]]])
        #expect(try await third == ["create", "messages", ["text": "Hi"], [:]])
        await #expect { try await missing.value } throws: { FeathersError.Code.notFound ~= $0 }
        #expect(transport.requests.map(\.path) == ["batch"])
        #expect(transport.requests.map(\.method) == [.create])
    }

    @Test("A call without company goes by itself")
    func alone() async throws {
        let (app, transport) = app()
        async let found = app.service("messages").find()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await found == "find messages")
        #expect(transport.requests.map(\.path) == ["messages"])
    }

    @Test("A full batch goes at once")
    func full() async throws {
        let (app, transport) = app(limit: 2)
        let results = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for id in 0..<4 { group.addTask { try await app.service("messages").get(id) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(results.compactMap { $0[2] }) == [0, 1, 2, 3])
        #expect(transport.requests.map(\.path) == ["batch", "batch"])
    }

    @Test("Other services, other methods, custom methods and the batch service itself are left alone")
    func leftAlone() async throws {
        let (app, _) = app(services: ["/messages/"], methods: [.find, "archive"])
        #expect(try await app.service("users").find() == "find users")
        #expect(try await app.service("messages").get(1) == "get messages")
        #expect(try await app.service("messages").call("archive") == "archive messages")
        try await app.use(MemoryService(), at: "messages")
        #expect(try await app.service("messages").find() == [])
    }

    @Test("Calls with other header fields, timeouts or users go apart")
    func apart() async throws {
        let (app, transport) = app()
        let calls: [@Sendable () async throws -> JSONValue] = [
            { try await app.service("a").find() }, { try await app.service("a").find(params: Params(headers: ["X": "1"])) },
            { try await app.service("a").find(params: Params(timeout: .seconds(5))) },
            {
                app.setIdentity(Identity("somebody else"))
                return try await app.service("a").find()
            },
        ]
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask { try await call() }
                try await clock.waitForSleepers(number + 1)
            }
            clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(transport.requests.map(\.path) == ["a", "a", "a", "a"])
    }

    @Test("A batch carries the header fields and the time of its calls")
    func carried() async throws {
        let (app, transport) = app()
        let params = Params(headers: ["Authorization": "Bearer token"], timeout: .seconds(9))
        async let first = app.service("a").get(1, params: params)
        try await clock.waitForSleepers(1)
        async let second = app.service("a").get(2, params: params)
        await waiters.wait(for: 1)
        clock.advance(by: .seconds(1))
        _ = try await (first, second)
        #expect(transport.requests.first?.params.headers == ["Authorization": "Bearer token"])
        #expect(transport.requests.first?.params.timeout == .seconds(8))
    }

    @Test("Cancelled before the batch goes, a call is not in it, be it the first or another", arguments: [0, 1])
    func cancelledEarly(cancelled: Int) async throws {
        let (app, transport) = app()
        var calls: [Task<JSONValue, any Error>] = []
        for id in 0..<3 {
            calls.append(Task { try await app.service("a").get(id) })
            if id == 0 { try await clock.waitForSleepers(1) } else { await waiters.wait(for: id) }
        }
        calls[cancelled].cancel()
        await #expect(throws: CancellationError.self) { try await calls[cancelled].value }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        for id in 0..<3 where id != cancelled { #expect(try await calls[id].value[2] == .integer(Int64(id))) }
        #expect(transport.requests.first?.data?["calls"]?.array?.count == 2)
    }

    @Test("Where the caller that sends the batch is cancelled, the others' reads are made again, their writes may have been executed")
    func cancelledLate() async throws {
        let (app, transport) = app()
        let registration = transport.stub("batch", with: .unanswered)
        let sender = Task { try await app.service("a").get(1) }
        try await clock.waitForSleepers(1)
        async let read = app.service("a").get(2)
        await waiters.wait(for: 1)
        let write = Task { try await app.service("a").create(["id": 3]) }
        await waiters.wait(for: 2)
        clock.advance(by: .seconds(1))
        try await transport.waitForRequest(number: 1)
        transport.removeStub(registration)
        sender.cancel()
        await #expect(throws: CancellationError.self) { try await sender.value }
        await #expect {
            try await write.value
        } throws: {
            FeathersError.Code.unavailable ~= $0 && ($0 as? FeathersError)?.execution == .mayHaveExecuted
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await read == "get a")
    }

    @Test("A batch that fails fails its calls")
    func failure() async throws {
        let (app, transport) = app()
        transport.stub("batch", with: .error(FeathersError(.notFound, "Service 'batch' not found")))
        let messages = try await withThrowingTaskGroup(of: String.self) { group in
            for id in 0..<2 {
                group.addTask {
                    do { return "\(try await app.service("a").get(id))" } catch { return "\(error)" }
                }
            }
            await waiters.wait(for: 1)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(messages.count == 2 && messages.allSatisfy { $0.hasPrefix("NotFound 404: Service 'batch' not found") })
    }

    @Test("A batch is one call of those that are limited, and what is shared is in it once")
    func together() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, waiting: 0))
        let sharers = CountedWaiters()
        app.use(hooks: .coalescingReads(onWaiting: sharers.report))
        let results = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for id in [1, 1, 1, 2] { group.addTask { try await app.service("a").get(id) } }
            await sharers.wait(for: 2)
            await waiters.wait(for: 1)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 4)
        #expect(transport.requests.map { $0.data?["calls"]?.array?.count } == [2])
    }
}

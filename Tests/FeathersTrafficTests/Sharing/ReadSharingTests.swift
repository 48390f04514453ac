import Feathers
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("Shared reads", .timeLimit(.minutes(10)))
struct ReadSharingTests {
    private let clock = ManualClock()
    private let waiters = CountedWaiters()

    /// A server that answers after a second, with the number of the request.
    private func app(failing: Bool = false) -> (app: FeathersApp, transport: StubTransport) {
        let (clock, count) = (clock, Locked(0))
        let transport = StubTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            try await clock.sleep(for: .seconds(1))
            if failing { throw FeathersError(.unavailable, "failure \(number)") }
            return .integer(Int64(number))
        }
        let app = FeathersApp(transport: transport)
        app.use(hooks: .coalescingReads(onWaiting: waiters.report))
        return (app, transport)
    }

    @Test("Identical reads share one request, and each caller's hooks see its own call")
    func shared() async throws {
        let (app, transport) = app()
        let seen = Locked(0)
        app.use(hooks: Hooks(after: [{ _ in seen.withLock { $0 += 1 } }]))
        let values = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<10 { group.addTask { try await app.service("messages").rawFind(.where("a", 1)) } }
            await waiters.wait(for: 9)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 10))
        #expect(transport.requests.count == 1)
        #expect(seen.withLock { $0 } == 10)
        async let later = app.service("messages").rawFind(.where("a", 1))
        try await transport.waitForRequest(number: 2)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await later == 2)
    }

    @Test("Ten reads whose hooks add trace and request ids share one request, those in two languages do not")
    func traced() async throws {
        let (app, transport) = app()
        app.harmlessHeaders = ["X-Client-Time"]
        app.use(
            hooks: Hooks(before: [
                { context in
                    for field in ["traceparent", "tracestate", "baggage", "X-Request-Id", "x-client-time"] {
                        context.params.headers[field] = "\(UInt64.random(in: 0 ... .max))"
                    }
                }
            ]))
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<10 { group.addTask { try await app.service("messages").rawFind() } }
            await waiters.wait(for: 9)
            for language in ["de", "fr"] {
                group.addTask {
                    try await app.service("messages").rawFind(params: Params(headers: ["Accept-Language": language]))
                }
            }
            try await clock.waitForSleepers(3)
            clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(transport.requests.count == 3)
    }

    @Test("Reads that differ in anything do not share, nor do changes")
    func different() async throws {
        let (app, transport) = app()
        let calls: [@Sendable () async throws -> JSONValue] = [
            { try await app.service("a").rawFind() }, { try await app.service("b").rawFind() },
            { try await app.service("a").rawFind(.limit(1)) },
            { try await app.service("a").get(1) }, { try await app.service("a").get("1") },
            { try await app.service("a").rawFind(params: Params(headers: ["X": "1"])) },
            { try await app.service("a").rawFind(params: Params(timeout: .seconds(900))) },
            { try await app.service("a").rawFind(params: Params(route: ["x": "1"])) },
            { try await app.service("a").get("e\u{301}") }, { try await app.service("a").get("\u{e9}") },
            { try await app.service("a").create(1) }, { try await app.service("a").create(1) },
            { try await app.service("a").rawFind(params: Params(token: "theirs")) },
        ]
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask { try await call() }
                try await transport.waitForRequest(number: number + 1)
            }
            try await clock.waitForSleepers(calls.count)
            clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(transport.requests.count == calls.count)
    }

    @Test("A caller that is cancelled takes nothing from the others, be it the first or another", arguments: [0, 1])
    func cancellation(cancelled: Int) async throws {
        let (app, transport) = app()
        var calls: [Task<JSONValue, any Error>] = []
        for number in 0..<3 {
            calls.append(Task { try await app.service("messages").get(1) })
            if number == 0 { try await transport.waitForRequest(number: 1) } else { await waiters.wait(for: number) }
        }
        calls[cancelled].cancel()
        await #expect(throws: CancellationError.self) { try await calls[cancelled].value }
        // The next one makes the request anew.
        if cancelled == 0 { try await transport.waitForRequest(number: 2) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        for number in 0..<3 where number != cancelled {
            #expect(try await calls[number].value == (cancelled == 0 ? 2 : 1))
        }
    }

    @Test("With the last caller the request ends")
    func lastCancelled() async throws {
        let (app, transport) = app()
        let first = Task { try await app.service("messages").get(1) }
        try await transport.waitForRequest(number: 1)
        let second = Task { try await app.service("messages").get(1) }
        await waiters.wait(for: 1)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(transport.calls[0].outcome == nil)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await transport.waitForOutcome(number: 1).error is CancellationError)
        #expect(transport.requests.count == 1)
    }

    @Test("A failure is everybody's")
    func failure() async throws {
        let (app, transport) = app(failing: true)
        let messages = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do { return "\(try await app.service("messages").get(1))" } catch { return "\(error)" }
                }
            }
            await waiters.wait(for: 2)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(messages == ["Unavailable 503: failure 1 ('get' of 'messages')"])
        #expect(transport.requests.count == 1)
    }
}

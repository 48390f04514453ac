import FeathersCore
import FeathersTesting
import Synchronization
import Testing

@Suite("Ready-made hooks")
struct ReadyMadeHookTests {
    /// A service of an app whose transport answers as told.
    static func service(_ answer: @escaping StubTransport.Responder) -> (
        service: Service<JSONValue>, transport: StubTransport
    ) {
        let transport = StubTransport(answer)
        return (FeathersApp(transport: transport).service("messages"), transport)
    }

    @Test("Validation stops a call before it is sent, for one record and for each of several")
    func validation() async throws {
        let (service, transport) = Self.service { $0.data ?? .null }
        await service.use(
            hooks: .validating(.create, .patch) { data in
                guard data["text"]?.string?.isEmpty == false else {
                    throw FeathersError(.badRequest, "A message needs text")
                }
            })
        await #expect(throws: FeathersError.self) { try await service.create(["text": ""]) }
        await #expect(throws: FeathersError.self) { try await service.create(contentsOf: [["text": "a"], [:]]) }
        await #expect(throws: FeathersError.self) { try await service.patch(1, with: [:]) }
        #expect(transport.requests.isEmpty)
        try await service.create(contentsOf: [["text": "a"], ["text": "b"]])
        try await service.update(1, with: [:])
        #expect(transport.requests.map(\.method) == [.create, .update])
    }

    @Test("Setting a field sets it in one record and in each of several")
    func setting() async throws {
        let (service, _) = Self.service { $0.data ?? .null }
        let counter = Atomic<Int>(0)
        await service.use(
            hooks: .setting("number", on: .create) { _ in .integer(Int64(counter.add(1, ordering: .relaxed).newValue)) }
        )
        #expect(try await service.create(["a": 1]) == ["a": 1, "number": 1])
        #expect(try await service.create(contentsOf: [["a": 1], [:]]) == [["a": 1, "number": 2], ["number": 3]])
        #expect(try await service.patch(1, with: ["a": 1]) == ["a": 1])
    }

    struct RetryCase: CustomTestStringConvertible {
        let testDescription: String
        let error: FeathersError
        let method: ServiceMethod
        let attempts: Int
    }

    @Test(
        "Retrying repeats what is safe to repeat and nothing else",
        arguments: [
            RetryCase(
                testDescription: "a read that may have been executed",
                error: FeathersError(.unavailable, "-", execution: .mayHaveExecuted),
                method: .get, attempts: 3),
            RetryCase(
                testDescription: "a write that was never sent",
                error: FeathersError(.unavailable, "-", execution: .neverSent),
                method: .create, attempts: 3),
            RetryCase(
                testDescription: "a write that may have been executed",
                error: FeathersError(.unavailable, "-", execution: .mayHaveExecuted),
                method: .create, attempts: 1),
            RetryCase(
                testDescription: "a write the server refused", error: FeathersError(.unavailable, "-"), method: .patch,
                attempts: 1),
            RetryCase(
                testDescription: "another failure", error: FeathersError(.notFound, "-"), method: .get, attempts: 1),
        ])
    func retrying(_ testCase: RetryCase) async throws {
        let (service, transport) = Self.service { _ in throw testCase.error }
        let clock = ManualClock()
        await service.use(hooks: .retrying(attempts: 3, pause: .seconds(1), clock: clock))
        let request = ServiceRequest(path: "messages", method: testCase.method, id: 1, data: [:])
        async let call = Result(catching: { try await service.respond(to: request) })
        for attempt in 1..<testCase.attempts {
            try await clock.waitForSleepers(1)
            #expect(transport.requests.count == attempt)
            clock.advance(by: .seconds(attempt == 1 ? 1 : 2))
        }
        let outcome = await call
        #expect(throws: FeathersError.self) { try outcome.get() }
        #expect(transport.requests.count == testCase.attempts)
    }

    @Test("Retries have a budget, so that an unwell server does not get several times the load")
    func retryBudget() async throws {
        let (service, transport) = Self.service { _ in throw FeathersError(.unavailable, "-") }
        let app = service.app
        app.use(hooks: .retrying(attempts: 3, pause: .zero))
        for _ in 0..<100 { await #expect(throws: FeathersError.self) { try await service.get(1) } }
        // A reserve of 10, and one for every fifth of the other 99 calls.
        let sent = transport.requests.count
        #expect(sent >= 128 && sent <= 130)
        // Another service has a budget of its own.
        await #expect(throws: FeathersError.self) { try await app.service("others").get(1) }
        #expect(transport.requests.count == sent + 3)
    }

    @Test("A retry starts from the call as it was before the hooks inside changed it")
    func retryRestoresTheCall() async throws {
        let attempts = Atomic<Int>(0)
        let (service, _) = Self.service { request in
            if attempts.add(1, ordering: .relaxed).newValue < 3 {
                throw FeathersError(.unavailable, "-", execution: .neverSent)
            }
            return request.data ?? .null
        }
        let clock = ManualClock()
        await service.use(hooks: .retrying(clock: clock))
        await service.use(
            hooks: Hooks(before: [
                { context in
                    let count = context.data?["count"]?.integer ?? 0
                    context.data?["count"] = .integer(count + 1)
                }
            ]))
        async let call = service.create(["count": 0])
        for _ in 1...2 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
        }
        #expect(try await call == ["count": 1])
    }

    @Test("A call that takes too long is cancelled and fails with a timeout")
    func timeout() async throws {
        let (service, transport) = Self.service { _ in
            try await Task.never()
            return .null
        }
        let clock = ManualClock()
        await service.use(hooks: .timeout(.seconds(5), clock: clock))
        async let call = Result(catching: { try await service.get(1) })
        try await transport.waitForRequest(number: 1)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let outcome = await call
        #expect {
            try outcome.get()
        } throws: { error in
            FeathersError.Code.timeout ~= error
                && "\(error)".contains("'get' on service 'messages' took longer than 5.0 seconds")
        }
    }

    @Test("A call in time is not touched by its deadline, and keeps what inner hooks changed")
    func inTime() async throws {
        let (service, _) = Self.service { $0.data ?? .null }
        await service.use(hooks: .timeout(.seconds(5), for: .create, clock: ManualClock()))
        await service.use(hooks: .setting("a", on: .create) { _ in 1 })
        #expect(try await service.create([:]) == ["a": 1])
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous function returns or throws; for calls that run beside a test in an `async let`.
    init(catching body: sending () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Suspends until the task is cancelled.
    static func never() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        throw _Concurrency.CancellationError()
    }
}

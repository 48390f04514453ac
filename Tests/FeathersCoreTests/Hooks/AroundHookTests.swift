import FeathersCore
import Testing

@Suite("Around hooks")
struct AroundHookTests {
    @Test("One that does not call next skips everything inside")
    func skipping() async throws {
        let trace = Trace()
        let service = try await FeathersApp().use(TracedService(trace: trace), at: "things")
        await service.use(
            hooks: Hooks(around: [{ context, _ in context.result = "cached" }], before: [trace.hook("before")]))
        #expect(try await service.get(1) == "cached")
        #expect(trace.all == [])
    }

    @Test("One that neither calls next nor sets a result gives null")
    func nothing() async throws {
        let service = try await FeathersApp().use(TracedService(trace: Trace()), at: "things")
        await service.use(hooks: Hooks(around: [{ _, _ in }]))
        #expect(try await service.get(1) == .null)
    }

    @Test("Calling next twice throws")
    func nextTwice() async throws {
        let trace = Trace()
        let service = try await FeathersApp().use(TracedService(trace: trace), at: "things")
        await service.use(
            hooks: Hooks(around: [
                { context, next in
                    try await next(&context)
                    try await next(&context)
                }
            ]))
        await #expect { try await service.get(1) } throws: {
            ($0 as? FeathersError)?.message == "next() called multiple times"
        }
        #expect(trace.all == ["METHOD"])
    }

    @Test("One that catches turns a failure into a success")
    func catching() async throws {
        let service = try await FeathersApp().use(
            TracedService(trace: Trace(), failure: FeathersError(.notFound, "gone")), at: "things")
        await service.use(
            hooks: Hooks(around: [
                { context, next in
                    do { try await next(&context) } catch FeathersError.Code.notFound { context.result = "default" }
                }
            ]))
        #expect(try await service.get(1) == "default")
    }

    @Test("Task-local values set around next reach the method")
    func taskLocals() async throws {
        actor Reader: ServiceProtocol {
            @TaskLocal static var request = "none"
            func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { .string(Self.request) }
        }
        let service = try await FeathersApp().use(Reader(), at: "reader")
        await service.use(
            hooks: Hooks(around: [
                { context, next in try await Reader.$request.withValue("r1") { try await next(&context) } }
            ]))
        #expect(try await service.get(1) == "r1")
    }

    @Test("Two calls whose hooks wait for each other both end: calls do not queue on the service")
    func concurrency() async throws {
        let service = try await FeathersApp().use(TracedService(trace: Trace()), at: "things")
        let meeting = Meeting(parties: 2)
        await service.use(hooks: Hooks(before: [{ _ in try await meeting.join() }]))
        async let first = service.get(1)
        async let second = service.get(2)
        #expect(try await [first, second] == [["id": 1], ["id": 2]])
    }
}

/// Lets its parties through only once all have come.
actor Meeting {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(parties: Int) {
        missing = parties
    }

    func join() async throws {
        missing -= 1
        guard missing > 0 else {
            for continuation in waiting { continuation.resume() }
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}

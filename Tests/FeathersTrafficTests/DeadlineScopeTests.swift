import Feathers
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@testable import FeathersTraffic

@Suite("The deadline of a caller", .timeLimit(.minutes(10)))
struct DeadlineScopeTests {
    private let clock = ManualClock()
    private let waiters = CountedWaiters()

    /// A server that takes a minute for every call.
    private func app() -> (app: FeathersApp, transport: StubTransport) {
        let clock = clock
        let transport = StubTransport { _ in
            try await clock.sleep(for: .seconds(60))
            return ["id": 1]
        }
        return (FeathersApp(transport: transport), transport)
    }

    private static func isTimeout(_ execution: FeathersError.Execution) -> (any Error) -> Bool {
        { ($0 as? FeathersError)?.code == .timeout && ($0 as? FeathersError)?.execution == execution }
    }

    @Test("ends a call that is in flight, and refuses those after it")
    func ends() async throws {
        let (app, transport) = app()
        try await app.withDeadline(.seconds(3), clock: clock) {
            async let first: Void = {
                _ = await #expect(
                    performing: { try await app.service("a").create(1) }, throws: Self.isTimeout(.mayHaveExecuted))
            }()
            try await transport.waitForRequest(number: 1)
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(4))
            await first
            await #expect(performing: { try await app.service("a").create(2) }, throws: Self.isTimeout(.neverSent))
        }
        #expect(transport.requests.count == 1)
        #expect(transport.requests.first?.params.timeout == .seconds(3))
    }

    @Test("is the earliest of several, and a shorter time limit of a call applies")
    func nested() async throws {
        let transport = StubTransport { _ in .null }
        let app = FeathersApp(transport: transport)
        try await app.withDeadline(.seconds(3), clock: clock) {
            _ = try await app.withDeadline(.seconds(9), clock: clock) { try await app.service("a").rawFind() }
            _ = try await app.withDeadline(.seconds(2), clock: clock) { try await app.service("a").rawFind() }
            _ = try await app.service("a").rawFind(params: Params(timeout: .seconds(1)))
        }
        _ = try await app.service("a").rawFind()
        #expect(transport.requests.map(\.params.timeout) == [.seconds(3), .seconds(2), .seconds(1), nil])
    }

    @Test("includes the wait for a turn, after which nothing was sent")
    func turns() async throws {
        let (app, transport) = app()
        app.use(hooks: .limiting(to: 1, clock: clock, onWaiting: waiters.report))
        let first = Task { try await app.service("a").create(1) }
        try await transport.waitForRequest(number: 1)
        await app.withDeadline(.seconds(3), clock: clock) {
            async let second: Void = {
                await #expect(performing: { try await app.service("a").create(2) }, throws: Self.isTimeout(.neverSent))
            }()
            await waiters.wait(for: 1)
            // The server's, the limiter's and the deadline's.
            try? await clock.waitForSleepers(3)
            clock.advance(by: .seconds(3))
            await second
        }
        first.cancel()
        #expect(transport.requests.count == 1)
    }

    @Test("includes retries: no retry that would begin after it is waited for")
    func retries() async throws {
        let transport = StubTransport()
        var busy = FeathersError(.unavailable, "Busy")
        busy.retryAfter = .seconds(10)
        transport.stub("a", .find, with: .error(busy))
        let app = FeathersApp(transport: transport)
        app.use(hooks: .retrying(clock: clock))
        await #expect {
            try await app.withDeadline(.seconds(3), clock: clock) { try await app.service("a").rawFind() }
        } throws: {
            FeathersError.Code.unavailable ~= $0
        }
        #expect(transport.requests.count == 1)
    }

    @Test("ends a hook and a local service that wait")
    func local() async throws {
        let (app, _) = app()
        let clock = clock
        app.use(
            hooks: Hooks(before: [
                { context in if context.path == "hooked" { try await clock.sleep(for: .seconds(60)) } }
            ]))
        try await app.use(SlowService(clock: clock), at: "slow")
        for (path, execution) in [("hooked", FeathersError.Execution.neverSent), ("slow", .mayHaveExecuted)] {
            await app.withDeadline(.seconds(3), clock: clock) {
                async let call: Void = {
                    _ = await #expect(
                        performing: { try await app.service(path).rawFind() }, throws: Self.isTimeout(execution))
                }()
                try? await clock.waitForSleepers(2)
                clock.advance(by: .seconds(4))
                await call
            }
        }
    }

    @Test("leaves a coalesced read to the callers that still wait for it")
    func coalesced() async throws {
        let (app, transport) = app()
        app.use(hooks: .coalescingReads(onWaiting: waiters.report))
        async let hasty: Void = app.withDeadline(.seconds(3), clock: clock) {
            _ = await #expect(
                performing: { try await app.service("a").get(1) }, throws: Self.isTimeout(.mayHaveExecuted))
        }
        try await transport.waitForRequest(number: 1)
        async let patient = app.service("a").get(1)
        await waiters.wait(for: 1)
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(4))
        await hasty
        try await transport.waitForRequest(number: 2)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await patient["id"] == 1)
    }

    @Test("has no effect on calls after its body, in a task that it created or in flight")
    func outlived() async throws {
        let (isOver, answer) = (Promise<Void>(), Promise<Void>())
        let transport = StubTransport { _ in
            try await answer.value()
            return ["id": 1]
        }
        let app = FeathersApp(transport: transport)
        let (begun, later) = try await app.withDeadline(.seconds(3600), clock: clock) {
            let begun = Task { try await app.service("a").rawFind() }
            let later = Task {
                try await isOver.value()
                return try await app.service("b").rawFind()
            }
            try await transport.waitForRequest(number: 1)
            return (begun, later)
        }
        clock.advance(by: .seconds(7200))
        isOver.resolve(())
        try await transport.waitForRequest(number: 2)
        answer.resolve(())
        #expect(try await begun.value == ["id": 1])
        #expect(try await later.value == ["id": 1])
        #expect(transport.requests.last?.params.timeout == nil)
    }

    @Test("ends the wait for a sign-in, which goes on for others")
    func signIn() async throws {
        let clock = clock
        let transport = StubTransport { request in
            guard request.path == "authentication" else { return ["id": 1] }
            try await clock.sleep(for: .seconds(60))
            return ["accessToken": "a.b.c", "user": ["id": 1]]
        }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        async let signIn = app.authenticate(.local(email: "a@example.com", password: "secret"))
        try await transport.waitForRequest(number: 1)
        await app.withDeadline(.milliseconds(50)) {
            _ = await #expect(performing: { try await app.service("a").get(1) }, throws: Self.isTimeout(.neverSent))
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await signIn
        #expect(try await app.service("a").get(1)["id"] == 1)
    }
}

/// A local service that takes a minute for every call.
private actor SlowService: ServiceProtocol {
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await clock.sleep(for: .seconds(60))
        return ServiceResponse(.null)
    }
}

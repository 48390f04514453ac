import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCore

@Suite("A circuit breaker", .timeLimit(.minutes(10)))
struct CircuitBreakerTests {
    /// A service whose server responds as told, behind a breaker that opens after three failures, for ten seconds.
    private struct Stand {
        let transport: StubTransport
        let clock = ManualClock()
        let app: FeathersApp
        let error = Locked<(any Error)?>(nil)

        init(per scope: Hooks.CallGroup = .service) {
            let error = error
            transport = StubTransport { _ in
                if let error = error.withLock({ $0 }) { throw error }
                return []
            }
            app = FeathersApp(transport: transport)
            app.use(hooks: .circuitBreaker(failures: 3, of: 6, per: scope, pause: .seconds(10), clock: clock))
        }

        /// Makes a call.
        /// - Returns: its error; nil if it succeeded.
        func call(_ path: String = "messages", of user: String? = nil, failing error: (any Error)?) async
            -> FeathersError?
        {
            self.error.withLock { $0 = error }
            do {
                var params = Params()
                params.token = user
                _ = try await app.service(path).find(params: params)
                return nil
            } catch {
                return error as? FeathersError
            }
        }

        var sent: Int { transport.requests.count }
    }

    /// A service in this process that asks the server.
    private actor Reports: ServiceProtocol {
        let messages: Service<JSONValue>

        init(messages: Service<JSONValue>) { self.messages = messages }

        func find(_ params: Params) async throws -> JSONValue { .array(Array(try await messages.find())) }
    }

    private static let unwell = FeathersError(.unavailable, "-", execution: .neverSent)

    @Test(
        "opens after three failures, and refuses what belongs to its scope, never sent",
        arguments: Hooks.CallGroup.allCases)
    func opens(_ scope: Hooks.CallGroup) async throws {
        let stand = Stand(per: scope)
        for _ in 1...3 { #expect(await stand.call(of: "ada", failing: Self.unwell)?.message == "-") }
        stand.clock.advance(by: .seconds(4))
        let others = [("messages", "bob"), ("messages", nil), ("users", "ada")]
        var refused: [Bool] = []
        for (path, user) in others { refused.append(await stand.call(path, of: user, failing: nil) != nil) }
        switch scope {
        case .service: #expect(refused == [true, true, false])
        case .serviceAndUser: #expect(refused == [false, false, false])
        case .all: #expect(refused == [true, true, true])
        }
        let refusal = try #require(await stand.call(of: "ada", failing: nil))
        #expect(refusal.code == .unavailable && refusal.execution == .neverSent && refusal.httpStatus == 503)
        #expect(refusal.retryAfter == .seconds(6) && refusal.message.contains("'find' of 'messages' was not made"))
        #expect(stand.sent == 3 + refused.count { !$0 })
    }

    @Test("makes one call after the pause: its response closes the circuit, its failure begins another pause")
    func probes() async throws {
        let stand = Stand()
        for _ in 1...3 { _ = await stand.call(failing: Self.unwell) }
        stand.clock.advance(by: .seconds(10))
        #expect(await stand.call(failing: Self.unwell)?.message == "-")
        #expect(await stand.call(failing: nil)?.retryAfter == .seconds(10))
        stand.clock.advance(by: .seconds(10))
        #expect(await stand.call(failing: nil) == nil)
        // Closed again, with no failures.
        for _ in 1...2 { _ = await stand.call(failing: Self.unwell) }
        #expect(await stand.call(failing: nil) == nil)
        #expect(stand.sent == 8)
    }

    @Test(
        "counts what says that the server is unwell, and nothing else",
        arguments: [
            (FeathersError(.timeout, "-", execution: .mayHaveExecuted), true),
            (FeathersError(.badGateway, "-"), true), (FeathersError(504, "-"), true),
            (FeathersError(.unavailable, "-"), true), (FeathersError(.notFound, "-"), false),
            (FeathersError(.generalError, "-"), false), (FeathersError(.tooManyRequests, "-"), false),
            (FeathersError(.badRequest, "-", execution: .neverSent), false), (CancellationError(), false),
        ] as [(any Error, Bool)])
    func counts(_ error: any Error, _ isCounted: Bool) async {
        let stand = Stand()
        for _ in 1...3 { _ = await stand.call(failing: error) }
        _ = await stand.call(failing: nil)
        #expect(stand.sent == (isCounted ? 3 : 4))
    }

    @Test("counts failures among the last calls, except those that say nothing about the server")
    func lastCalls() async {
        let stand = Stand()
        for _ in 1...2 { _ = await stand.call(failing: Self.unwell) }
        for _ in 1...5 { _ = await stand.call(failing: FeathersError(.notFound, "-")) }
        // One of the first two still counts.
        _ = await stand.call(failing: Self.unwell)
        for _ in 1...9 { _ = await stand.call(failing: FeathersError(.badRequest, "-", execution: .neverSent)) }
        #expect(stand.sent == 17)
        for _ in 1...2 { _ = await stand.call(failing: Self.unwell) }
        _ = await stand.call(failing: nil)
        #expect(stand.sent == 19)
    }

    @Test("is named in the health and the metrics of its app while it is open")
    func reported() async {
        let stand = Stand()
        for _ in 1...3 { _ = await stand.call(failing: Self.unwell) }
        #expect(stand.app.health.openCircuits == ["messages"])
        #expect(stand.app.metrics.circuits.map { [$0.open, $0.openings] } == [[1, 1]])
        let samples = stand.app.metrics.samples.filter { $0.name.contains("circuit") }
        #expect(samples.map(\.name) == ["feathers_circuits_open", "feathers_circuit_openings_total"])
        stand.clock.advance(by: .seconds(10))
        _ = await stand.call(failing: nil)
        #expect(stand.app.health.openCircuits.isEmpty)
        #expect(stand.app.metrics.circuits.map { [$0.open, $0.openings] } == [[0, 1]])
    }

    @Test("forgets failures of paths whose circuits are closed when there are too many")
    func forgotten() async {
        let stand = Stand()
        for number in 0..<1_010 { _ = await stand.call("paths/\(number)", failing: Self.unwell) }
        #expect(stand.app.health.openCircuits.isEmpty)
        for number in 1_000..<1_010 { #expect(await stand.call("paths/\(number)", failing: nil) == nil) }
        #expect(await stand.call("another", failing: nil) == nil)
    }

    @Test("shares a circuit among further paths while 1,000 are open")
    func bounded() async {
        let stand = Stand()
        for _ in 1...3 { for number in 0..<1_000 { _ = await stand.call("paths/\(number)", failing: Self.unwell) } }
        for number in 0..<3 { _ = await stand.call("more/\(number)", failing: Self.unwell) }
        #expect(await stand.call("another", failing: nil)?.execution == .neverSent)
    }

    @Test("is reported closed by the app that reported it open")
    func twoApps() async {
        let (first, second) = (Stand(), Stand())
        let hooks = Hooks.circuitBreaker(failures: 1, of: 1, pause: .zero)
        for stand in [first, second] { stand.app.use(hooks: hooks) }
        _ = await first.call("notes", failing: Self.unwell)
        #expect(first.app.health.openCircuits == ["notes"])
        #expect(await second.call("notes", failing: nil) == nil)
        #expect(first.app.health.openCircuits.isEmpty)
        #expect(second.app.metrics.circuits.isEmpty)
    }

    @Test("makes no second call while a probe is in progress, and another probe if it is cancelled")
    func oneProbe() async throws {
        var circuit = Circuit(limit: 1, calls: 1, pause: .seconds(10))
        circuit.ended(.failed, period: 0, at: .zero)
        #expect(circuit.admit(at: .seconds(9)) == .refused(remaining: .seconds(1)))
        #expect(circuit.admit(at: .seconds(10)) == .admitted(period: 2))
        #expect(circuit.admit(at: .seconds(10)) == .refused(remaining: nil))
        circuit.ended(.unknown, period: 2, at: .seconds(11))
        #expect(circuit.admit(at: .seconds(11)) == .admitted(period: 4))
        circuit.ended(.responded, period: 4, at: .seconds(12))
        #expect(circuit.admit(at: .seconds(12)) == .admitted(period: 5))
    }

    @Test("ignores the outcome of calls that began before the circuit changed")
    func late() {
        var circuit = Circuit(limit: 1, calls: 1, pause: .seconds(10))
        circuit.ended(.failed, period: 0, at: .zero)
        circuit.ended(.responded, period: 0, at: .seconds(1))
        #expect(circuit.admit(at: .seconds(1)) == .refused(remaining: .seconds(9)))
        #expect(circuit.admit(at: .seconds(10)) == .admitted(period: 2))
        circuit.ended(.failed, period: 0, at: .seconds(11))
        circuit.ended(.responded, period: 2, at: .seconds(12))
        circuit.ended(.failed, period: 0, at: .seconds(13))
        #expect(circuit.admit(at: .seconds(13)) == .admitted(period: 3))
    }

    @Test("counts calls that a timeout hook ends, and says when the circuit opens and closes")
    func timeouts() async throws {
        let (clock, error, notices) = (ManualClock(), Locked<(any Error)?>(CancellationError()), Locked<[String]>([]))
        let transport = StubTransport { _ in
            guard error.withLock({ $0 }) != nil else { return [] }
            try await Promise<Void>().value()
            return []
        }
        let app = FeathersApp(transport: transport)
        app.use(
            diagnostics: .closure { event in notices.withLock { $0.append(event.message) } },
            levels: DiagnosticLevels(nil, [.calls: .notice]))
        app.use(hooks: .circuitBreaker(failures: 2, pause: .seconds(10), clock: clock))
        app.use(hooks: .timeout(.seconds(1), clock: clock))
        for _ in 1...2 {
            async let result = failure { try await app.service("messages").find() }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            #expect(await result?.code == .timeout)
        }
        let refused = await failure { try await app.service("messages").find() }
        #expect(refused?.code == .unavailable && refused?.execution == .neverSent && transport.requests.count == 2)
        error.withLock { $0 = nil }
        clock.advance(by: .seconds(10))
        #expect(await failure { try await app.service("messages").find() } == nil)
        #expect(notices.withLock { $0.filter { $0.contains("calls are made") }.count } == 2)
    }

    private func failure<Result>(_ body: () async throws -> Result) async -> FeathersError? {
        do { _ = try await body() } catch { return error as? FeathersError }
        return nil
    }

    @Test("lets the probe of a service in this process call its server")
    func nested() async throws {
        let stand = Stand(per: .all)
        try await stand.app.use(Reports(messages: stand.app.service("messages")), at: "reports")
        for _ in 1...2 { #expect(await stand.call("reports", failing: Self.unwell) != nil) }
        // Each call counts once, although two passed.
        #expect(await stand.call(failing: Self.unwell)?.message == "-")
        #expect(await stand.call("reports", failing: nil)?.message.contains("was not made") == true)
        stand.clock.advance(by: .seconds(10))
        #expect(await stand.call("reports", failing: nil) == nil)
        #expect(stand.sent == 4)
    }

    @Test("of a service counts the calls that a service in this process makes of it")
    func nestedServices() async throws {
        let stand = Stand()
        try await stand.app.use(Reports(messages: stand.app.service("messages")), at: "reports")
        for _ in 1...3 { #expect(await stand.call("reports", failing: Self.unwell) != nil) }
        #expect(stand.app.health.openCircuits == ["messages", "reports"])
        stand.clock.advance(by: .seconds(10))
        #expect(await stand.call("reports", failing: nil) == nil)
        #expect(stand.app.health.openCircuits.isEmpty && stand.sent == 4)
    }
}

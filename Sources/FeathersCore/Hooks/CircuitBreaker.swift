import FeathersSupport

extension Hooks {
    /// What calls a circuit breaker stops together, and what calls a limit counts together.
    public enum CallGroup: Sendable, Hashable, CaseIterable {
        /// The calls of one service.
        case service
        /// The calls that one user makes of one service: those with one token, or those without any.
        case serviceAndUser
        /// The calls of all services on which the hooks are registered.
        case all
    }

    /// Returns hooks that stop making calls of a service while its server is unwell.
    ///
    /// ```swift
    /// app.use(hooks: .circuitBreaker(failures: 5, of: 10, pause: .seconds(10)))
    /// ```
    /// When enough of the last calls have failed, the circuit is open: calls throw ``FeathersError/Code/unavailable``
    /// immediately and are never sent, with the rest of the pause as ``FeathersError/retryAfter``. After the pause, one
    /// call is made as a probe. If the server responds to it, calls are made again; if it fails, another pause begins.
    ///
    /// ``FeathersError/Code/unavailable``, ``FeathersError/Code/badGateway``, ``FeathersError/Code/timeout`` and 504
    /// count as failures, and so do calls that ``timeout(_:for:)`` ends. Any other response shows that the server works,
    /// including an error such as ``FeathersError/Code/notFound``. Calls that are cancelled for other reasons, or that
    /// could not be sent for a reason of their own, say nothing. Signing in and out is never refused. The diagnostics
    /// have a notice whenever a circuit opens or closes; ``AppHealth/openCircuits`` and ``AppMetrics/circuits`` name
    /// those that are open.
    ///
    /// Each service has a circuit of its own, so that one that is unwell stops no other. At most 1,000 circuits are
    /// open at a time; the calls of other services and users then share one. Register
    /// ``retrying(attempts:pause:longestPause:refusedWrites:budget:)`` first, so that each attempt counts.
    /// - Parameters:
    ///   - failures: The number of failures that open a circuit, at least 1.
    ///   - calls: The number of the last calls among which they count, at least `failures`.
    ///   - scope: What calls are stopped together.
    ///   - pause: How long no calls are made.
    public static func circuitBreaker(
        failures: Int = 5, of calls: Int = 10, per scope: CallGroup = .service, pause: Duration = .seconds(10)
    ) -> Hooks {
        circuitBreaker(failures: failures, of: calls, per: scope, pause: pause, clock: ContinuousClock())
    }

    package static func circuitBreaker(
        failures: Int = 5, of calls: Int = 10, per scope: CallGroup = .service, pause: Duration = .seconds(10),
        clock: any Clock<Duration>
    ) -> Hooks {
        let circuit = Circuit(limit: max(failures, 1), calls: calls, pause: pause)
        let breaker = CircuitBreaker(circuit, scope, clock: RelativeClock(clock))
        return Hooks(around: [{ context, next in try await breaker.run(&context, next) }])
    }
}

/// The state of a circuit breaker, without I/O.
struct Circuit: Sendable {
    /// What happened to a call.
    enum Outcome: Sendable {
        /// The server responded, even if with an error about the call.
        case responded
        /// The server is unwell, or was not reached.
        case failed
        /// The call says nothing about the server.
        case unknown
    }

    enum Admission: Sendable, Hashable {
        /// The call is made. Its outcome counts only if the circuit has not changed since this period began.
        case admitted(period: Int)
        /// The call is refused; nil if a probe is in progress.
        case refused(remaining: Duration?)
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case probing
    }

    /// The number of failures that open the circuit.
    let limit: Int
    /// The number of calls among which they count.
    let calls: Int
    let pause: Duration
    private var phase = Phase.closed
    /// Whether each of the last calls has failed, from the first failure on.
    private var failed: [Bool] = []
    /// Increases with every change between closed, open and probing. A call that began earlier does not count: a late
    /// response must not close the circuit, and a late timeout must not open it again.
    private(set) var period = 0

    init(limit: Int, calls: Int, pause: Duration) {
        (self.limit, self.calls, self.pause) = (limit, max(calls, limit), pause)
    }

    /// Whether the circuit is closed, and none of the last calls has failed.
    var isAtRest: Bool { isClosed && failed.isEmpty }

    mutating func admit(at now: Duration) -> Admission {
        switch phase {
        case .closed: break
        case .open(let end) where now < end: return .refused(remaining: end - now)
        case .open: change(to: .probing)
        case .probing: return .refused(remaining: nil)
        }
        return .admitted(period: period)
    }

    /// - Returns: Whether calls are made from now on; nil if that has not changed.
    @discardableResult
    mutating func ended(_ outcome: Outcome, period: Int, at now: Duration) -> Bool? {
        guard period == self.period else { return nil }
        let wasClosed = isClosed
        switch (phase, outcome) {
        case (.open, _): break
        case (.closed, .unknown): break
        case (.closed, .responded): count(false)
        case (.closed, .failed):
            count(true)
            if failed.count(where: \.self) >= limit { change(to: .open(until: now + pause)) }
        case (.probing, .failed): change(to: .open(until: now + pause))
        case (.probing, .responded): change(to: .closed)
        // The next call is the probe instead.
        case (.probing, .unknown): change(to: .open(until: now))
        }
        return isClosed == wasClosed ? nil : isClosed
    }

    private mutating func count(_ isFailure: Bool) {
        // What responded before the first failure does not matter.
        guard isFailure || !failed.isEmpty else { return }
        failed.append(isFailure)
        if failed.count > calls { failed.removeFirst() }
        if !failed.contains(true) { failed = [] }
    }

    /// Whether calls are made.
    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Moves a circuit at rest to the period of another one, which is forgotten.
    mutating func follow(_ other: Circuit) { period = max(period, other.period) }

    private mutating func change(to phase: Phase) {
        (self.phase, failed) = (phase, [])
        period += 1
    }
}

/// The circuits of a circuit breaker, and the calls that pass them.
private final class CircuitBreaker: Sendable {
    /// What distinguishes a circuit from the others.
    private struct Key: Hashable {
        /// That of calls for which there is no room.
        static let others = Key(path: AppMetrics.others)

        var path: String?
        var user: String?
    }

    private struct Passage: Hashable {
        let breaker: ObjectIdentifier
        let key: Key
    }

    /// The circuits that this task's call has passed. Calls that it makes through the same ones are part of it: the
    /// probe of a service in this process must be able to call its server.
    @TaskLocal private static var passed: Set<Passage> = []

    /// The number of circuits that are distinguished, so that arbitrary paths cannot exhaust the memory.
    private static let limit = 1000

    private struct State: Sendable {
        /// The circuits that are not at rest.
        var circuits: [Key: Circuit] = [:]
        /// A circuit at rest, whose period is no earlier than those of circuits that were forgotten.
        var rest: Circuit
        /// The apps whose calls have opened circuits, which report the end too.
        var openers: [Key: WeakApp] = [:]

        /// Returns whether another circuit may be added. If there are too many, the failures of closed ones are
        /// forgotten, so that calls share a circuit only while that many are open.
        mutating func hasRoom(_ limit: Int) -> Bool {
            guard circuits.count >= limit else { return true }
            for (key, circuit) in circuits where circuit.isClosed && key != .others {
                rest.follow(circuit)
                circuits[key] = nil
            }
            return circuits.count < limit
        }

        mutating func change<Result>(_ key: Key, _ body: (inout Circuit) -> Result) -> Result {
            var circuit = circuits[key] ?? rest
            defer {
                circuits[key] = circuit.isAtRest ? nil : circuit
                if circuit.isAtRest { rest.follow(circuit) }
            }
            return body(&circuit)
        }
    }

    private let scope: Hooks.CallGroup
    private let state: Locked<State>
    private let clock: RelativeClock

    init(_ rest: Circuit, _ scope: Hooks.CallGroup, clock: RelativeClock) {
        (state, self.scope, self.clock) = (Locked(State(rest: rest)), scope, clock)
    }

    func run(_ context: inout HookContext, _ next: NextHook) async throws {
        let passage = Passage(breaker: ObjectIdentifier(self), key: key(of: context))
        // Calls that wait for a sign-in are counted, so the sign-in itself is not. A probe may also need it.
        guard !context.params.concernsConnection, !Self.passed.contains(passage) else {
            return try await next(&context)
        }
        let (key, period) = try admit(context, passage.key)
        do {
            try await Self.$passed.withValue(Self.passed.union([passage])) { try await next(&context) }
            ended(.responded, key, period, context.app)
        } catch {
            ended(error.outcome, key, period, context.app)
            throw error
        }
    }

    private func key(of context: HookContext) -> Key {
        Key(
            path: scope == .all ? nil : context.path,
            user: scope == .serviceAndUser ? context.params[CallToken.self]?.digest : nil)
    }

    private func admit(_ context: HookContext, _ key: Key) throws -> (key: Key, period: Int) {
        var key = key
        let admission = state.withLock { state in
            if state.circuits[key] == nil, !state.hasRoom(Self.limit) { key = .others }
            return state.change(key) { $0.admit(at: clock.now) }
        }
        switch admission {
        case .admitted(let period): return (key, period)
        case .refused(let remaining): throw refusal(of: context, remaining)
        }
    }

    private func ended(_ outcome: Circuit.Outcome, _ key: Key, _ period: Int, _ app: FeathersApp) {
        let (isClosed, rest) = state.withLock { state in
            (state.change(key) { $0.ended(outcome, period: period, at: clock.now) }, state.rest)
        }
        guard let isClosed else { return }
        let path = key.path ?? AppMetrics.all
        let opener = state.withLock { state in
            if !isClosed { state.openers[key] = app.weakReference }
            return isClosed ? state.openers.removeValue(forKey: key) : app.weakReference
        }
        opener?.app?.circuitChanged(at: path, isOpen: !isClosed)
        Diagnostics.current.log(
            .notice, .calls,
            isClosed
                ? "The server responds, and calls are made again"
                : "No calls are made for \(rest.pause), because \(rest.limit) of the last ones failed",
            [.path: .string(path)])
    }

    private func refusal(of context: HookContext, _ remaining: Duration?) -> FeathersError {
        var error = FeathersError(
            .unavailable,
            "'\(context.method)' of '\(context.path)' was not made, because earlier calls failed: the circuit is open",
            execution: .neverSent)
        error.retryAfter = remaining
        return error
    }
}

extension Error {
    fileprivate var outcome: Circuit.Outcome {
        guard let error = self as? FeathersError else { return CallDeadline.isOver ? .failed : .unknown }
        if error.saysServerIsUnwell { return .failed }
        return error.execution == .answered ? .responded : .unknown
    }
}

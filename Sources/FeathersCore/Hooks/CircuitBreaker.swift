import FeathersSupport

extension Hooks {
    /// Returns hooks that stop making calls while the server is unwell.
    ///
    /// ```swift
    /// app.use(hooks: .circuitBreaker(failures: 5, pause: .seconds(10)))
    /// ```
    /// After a number of consecutive failures, the circuit is open: calls throw ``FeathersError/Code/unavailable``
    /// immediately and are never sent, with the rest of the pause as ``FeathersError/retryAfter``. After the pause, one
    /// call is made as a probe. If the server responds to it, calls are made again; if it fails, another pause begins.
    ///
    /// ``FeathersError/Code/unavailable``, ``FeathersError/Code/badGateway``, ``FeathersError/Code/timeout`` and 504
    /// count as failures, and so do calls that ``timeout(_:for:)`` ends. Any other response shows that the server works,
    /// including an error such as ``FeathersError/Code/notFound``. Calls that are cancelled for other reasons, or that
    /// could not be sent for a reason of their own, say nothing. Signing in and out is never refused. The diagnostics
    /// have a notice whenever the circuit opens or closes.
    ///
    /// Registered on the app, these hooks stop the calls of all services together. The same value registered on several
    /// services stops the calls of those. Register ``retrying(attempts:pause:longestPause:refusedWrites:)`` first, so
    /// that each attempt counts.
    /// - Parameters:
    ///   - failures: The number of consecutive failures that open the circuit, at least 1.
    ///   - pause: How long no calls are made.
    public static func circuitBreaker(failures: Int = 5, pause: Duration = .seconds(10)) -> Hooks {
        circuitBreaker(failures: failures, pause: pause, clock: ContinuousClock())
    }

    package static func circuitBreaker(failures: Int = 5, pause: Duration = .seconds(10), clock: any Clock<Duration>)
        -> Hooks
    {
        let breaker = CircuitBreaker(Circuit(limit: max(failures, 1), pause: pause), clock: RelativeClock(clock))
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
        case closed(failures: Int)
        case open(until: Duration)
        case probing
    }

    /// The number of consecutive failures that open the circuit.
    let limit: Int
    let pause: Duration
    private var phase = Phase.closed(failures: 0)
    /// Increases with every change between closed, open and probing. A call that began earlier does not count: a late
    /// response must not close the circuit, and a late timeout must not open it again.
    private var period = 0

    init(limit: Int, pause: Duration) { (self.limit, self.pause) = (limit, pause) }

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
        case (.closed, .responded): phase = .closed(failures: 0)
        case (.closed(let failures), .failed) where failures + 1 < limit: phase = .closed(failures: failures + 1)
        case (.closed, .failed), (.probing, .failed): change(to: .open(until: now + pause))
        case (.probing, .responded): change(to: .closed(failures: 0))
        // The next call is the probe instead.
        case (.probing, .unknown): change(to: .open(until: now))
        }
        return isClosed == wasClosed ? nil : isClosed
    }

    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    private mutating func change(to phase: Phase) {
        self.phase = phase
        period += 1
    }
}

/// A circuit and the calls that pass it.
private final class CircuitBreaker: Sendable {
    /// The breakers that this task's call has passed. Calls that it makes are part of it: the probe of a service in
    /// this process must be able to call its server.
    @TaskLocal static var passed: Set<ObjectIdentifier> = []

    private let circuit: Locked<Circuit>
    private let clock: RelativeClock

    init(_ circuit: Circuit, clock: RelativeClock) { (self.circuit, self.clock) = (Locked(circuit), clock) }

    func run(_ context: inout HookContext, _ next: NextHook) async throws {
        let passed = Self.passed
        // Calls that wait for a sign-in are counted, so the sign-in itself is not. A probe may also need it.
        guard !context.params.concernsConnection, !passed.contains(ObjectIdentifier(self)) else {
            return try await next(&context)
        }
        let period: Int
        switch circuit.withLock({ $0.admit(at: clock.now) }) {
        case .admitted(let current): period = current
        case .refused(let remaining): throw refusal(of: context, remaining)
        }
        do {
            try await Self.$passed.withValue(passed.union([ObjectIdentifier(self)])) { try await next(&context) }
            ended(.responded, period, context.path)
        } catch {
            ended(error.outcome, period, context.path)
            throw error
        }
    }

    private func ended(_ outcome: Circuit.Outcome, _ period: Int, _ path: String) {
        let (isClosed, pause) = circuit.withLock { ($0.ended(outcome, period: period, at: clock.now), $0.pause) }
        guard let isClosed else { return }
        Diagnostics.current.log(
            .notice, .calls,
            isClosed
                ? "The server responds, and calls are made again"
                : "No calls are made for \(pause), because the last ones failed",
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

import FeathersSupport
import Synchronization

extension FeathersApp {
    /// Runs `body`, in which the caller waits for each call only until a common deadline.
    ///
    /// ```swift
    /// try await app.withDeadline(.seconds(3)) {
    ///     let room = try await rooms.get(id)
    ///     return (room, try await messages.find(.where(.roomID, id)))
    /// }
    /// ```
    /// A server that responds to requests uses it to respond in time, whatever its backend does. The time includes
    /// everything that a call waits for: a turn, a connection, a sign-in, retries and the server. A shorter
    /// ``Params/timeout`` of a call still applies, and of nested deadlines the earliest. Calls of other apps in `body`
    /// have the deadline too.
    ///
    /// Only the caller's wait ends. A refresh of the sign-in, a connection and a coalesced read that others wait for go
    /// on. Work that outlives `body` does not have the deadline: not the app's own, such as live queries and queued
    /// writes, and not the calls that a `Task` created in `body` makes after its end. `body` itself is not cancelled.
    ///
    /// At the deadline, a call is cancelled and throws ``FeathersError/Code/timeout``, whose
    /// ``FeathersError/execution-swift.property`` says whether it was sent. Calls that `body` makes later are not sent.
    /// A hook or local service that ignores cancellation delays the error.
    /// - Parameters:
    ///   - limit: The time until the deadline, from now.
    ///   - body: The code whose calls have the deadline.
    /// - Throws: The errors of `body`.
    public func withDeadline<Result>(
        _ limit: Duration, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await withDeadline(limit, clock: ContinuousClock(), body)
    }

    package func withDeadline<Result>(
        _ limit: Duration, clock: any Clock<Duration>, _ body: () async throws -> Result
    ) async rethrows -> Result {
        let scope = DeadlineScope(limit, clock: RelativeClock(clock), outer: DeadlineScope.current)
        defer { scope.bodyEnded() }
        return try await DeadlineScope.$current.withValue(scope) { try await body() }
    }
}

/// The deadline of a caller, which ends its waits for calls.
package final class DeadlineScope: Sendable {
    /// What a caller waits for.
    private final class Wait: Sendable {
        let hasReachedService = Atomic(false)

        var execution: FeathersError.Execution {
            hasReachedService.load(ordering: .acquiring) ? .mayHaveExecuted : .neverSent
        }
    }

    @TaskLocal package static var current: DeadlineScope?
    @TaskLocal private static var wait: Wait?

    /// The time that a call has to end by itself at the deadline. Its transport knows best whether it was sent.
    private static let grace = Duration.milliseconds(20)

    private let limit: Duration
    private let clock: RelativeClock
    private let end: Duration
    private let outer: DeadlineScope?
    /// Settled at the end of the body, so that calls that outlive it lose the deadline.
    private let ended = Promise<Void>()

    init(_ limit: Duration, clock: RelativeClock, outer: DeadlineScope?) {
        (self.limit, self.clock, self.outer) = (limit, clock, outer)
        end = clock.now + limit
    }

    func bodyEnded() { ended.resolve(()) }

    /// Records that the current task's call is handed to its service, or to the transport to it.
    static func callReachedService() { wait?.hasReachedService.store(true, ordering: .releasing) }

    /// The time until the earliest deadline of the current task's calls; nil without one.
    ///
    /// A request that others wait for too has none: cancelling its caller passes it on to the next one.
    package static var timeLeft: Duration? {
        guard let current, !Leading.isOn else { return nil }
        return current.timeLeft
    }

    /// Returns a time limit, or the time until the deadline if that is less.
    package static func bound(_ limit: Duration?) -> Duration? {
        guard let left = timeLeft.map({ max($0, .zero) }) else { return limit }
        return limit.map { min($0, left) } ?? left
    }

    private var timeLeft: Duration? { earliest.map { $0.end - $0.clock.now } }

    /// The scope with the earliest deadline, of this one and those around it whose bodies run.
    private var earliest: DeadlineScope? {
        let outer = outer?.earliest
        if ended.isSettled { return outer }
        guard let outer, let other = outer.timeLeft, other < end - clock.now else { return self }
        return outer
    }

    /// Runs a call of the current task until the deadline.
    /// - Throws: ``FeathersError/Code/timeout``.
    static func run<Value: Sendable>(
        _ request: ServiceRequest, _ perform: @escaping @Sendable (ServiceRequest) async throws -> Value
    ) async throws -> Value {
        guard let scope = current, let first = scope.earliest else { return try await perform(request) }
        guard first.end > first.clock.now else { throw first.timeout(of: request, .neverSent) }
        let wait = Wait()
        return try await racing {
            try await $wait.withValue(wait) { try await perform(request) }
        } against: {
            while let first = scope.earliest {
                let end = first.end + grace
                if end <= first.clock.now { return .failure(first.timeout(of: request, wait.execution)) }
                try await first.clock.sleep(until: end, or: first.ended)
            }
            // All bodies have ended before their deadlines.
            try await Promise<Void>().value()
            throw CancellationError()
        }
    }

    private func timeout(of request: ServiceRequest, _ execution: FeathersError.Execution) -> FeathersError {
        let outcome =
            execution == .neverSent
            ? "was not sent before the caller's deadline of \(limit)"
            : "did not end before the caller's deadline of \(limit)"
        return FeathersError(
            .timeout, "'\(request.method)' on service '\(request.path)' \(outcome)", execution: execution)
    }
}

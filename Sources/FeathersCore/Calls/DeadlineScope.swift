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
    /// A call that a caller waits for.
    private final class Wait: Sendable {
        private struct State {
            var isOver = false
            var change = Promise<Void>()
        }

        private let hasReachedService = Atomic(false)
        private let state = Locked(State())

        func reachedService() { hasReachedService.store(true, ordering: .releasing) }

        var execution: FeathersError.Execution {
            hasReachedService.load(ordering: .acquiring) ? .mayHaveExecuted : .neverSent
        }

        /// Returns what is settled at the end of the call; nil if it has ended.
        func next() -> Promise<Void>? {
            state.withLock { state in
                if state.isOver { return nil }
                state.change = Promise()
                return state.change
            }
        }

        func callEnded() {
            let change = state.withLock { state in
                state.isOver = true
                return state.change
            }
            change.resolve(())
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
    /// Set at the end of the body, so that calls that outlive it lose the deadline.
    private let hasEnded = Atomic(false)

    init(_ limit: Duration, clock: RelativeClock, outer: DeadlineScope?) {
        (self.limit, self.clock, self.outer) = (limit, clock, outer)
        end = clock.now + limit
    }

    func bodyEnded() { hasEnded.store(true, ordering: .releasing) }

    /// Records that the current task's call is handed to its service, or to the transport to it.
    static func callReachedService() { wait?.reachedService() }

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
        if hasEnded.load(ordering: .acquiring) { return outer }
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
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask {
                defer { wait.callEnded() }
                return try await $wait.withValue(wait) { try await perform(request) }
            }
            // Waits here for the deadline, because another task would take as much memory as the call.
            while !Task.isCancelled, let first = scope.earliest, let end = wait.next() {
                let deadline = first.end + grace
                if deadline <= first.clock.now { throw first.timeout(of: request, wait.execution) }
                await first.clock.settle(end, at: deadline)
            }
            // The call has ended or been cancelled, or all bodies have ended before their deadlines.
            guard let value = try await group.next() else { throw CancellationError() }
            return value
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

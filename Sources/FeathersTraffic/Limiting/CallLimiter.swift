public import FeathersCore
import FeathersSupport

extension Hooks {
    /// Limits how many calls are in flight at the same time. The others wait for their turn, in order.
    ///
    /// ```swift
    /// app.addHooks(.limiting(to: 6))
    /// await reports.addHooks(.limiting(to: 1, waiting: 10))
    /// ```
    ///
    /// On an app, the limit counts the calls of all services and endpoints; on a service, its own calls. Calls wait after their hooks have run,
    /// so a call that waits for something else, for example a sign-in, does not hold a turn. Waiting can be cancelled, and counts toward the
    /// call's timeout. Calls that a local service makes during its turn need no turn of their own.
    ///
    /// When the queue is full, a call fails with ``FeathersError/Code/tooManyRequests``. When its time ends while it waits, it fails with
    /// ``FeathersError/Code/timeout``. In both cases it was never sent, so `retrying` can repeat the former.
    /// - Parameters:
    ///   - limit: How many calls can be in flight, at least one.
    ///   - capacity: How many calls can wait.
    ///   - longestWait: How long a call without a timeout can wait; nil for no limit.
    ///   - scope: The methods that are limited.
    ///   - clock: Measures the waiting.
    public static func limiting(
        to limit: Int, waiting capacity: Int = 1000, longestWait: Duration? = .seconds(60), for scope: HookScope = .all,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        limiting(to: limit, waiting: capacity, longestWait: longestWait, for: scope, clock: clock) { _ in }
    }

    /// - Parameter onWaiting: Called with the number of calls that wait, each time one more does.
    package static func limiting(
        to limit: Int, waiting capacity: Int = 1000, longestWait: Duration? = .seconds(60), for scope: HookScope = .all,
        clock: any Clock<Duration> = ContinuousClock(), onWaiting: @escaping @Sendable (Int) -> Void
    ) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[scope] = [
            CallLimiter(limit: limit, capacity: capacity, longestWait: longestWait, clock: clock, onWaiting: onWaiting)
        ]
        return hooks
    }
}

/// Limits how many calls are in flight at the same time, and lets the others wait in order.
private final class CallLimiter: Middleware {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State: Sendable {
        var queue: TurnQueue<Waiter>
        var lastID = 0
    }

    /// The limiters whose turn the current task holds. A call that a local service makes during its turn must not wait for that turn to end.
    @TaskLocal private static var held: Set<ObjectIdentifier> = []

    let order = MiddlewareOrder.limiting
    private let limit: Int
    private let capacity: Int
    private let longestWait: Duration?
    private let timebase: RelativeClock
    private let onWaiting: @Sendable (Int) -> Void
    private let state: Locked<State>

    init(
        limit: Int, capacity: Int, longestWait: Duration?, clock: any Clock<Duration>, onWaiting: @escaping @Sendable (Int) -> Void
    ) {
        (self.limit, self.capacity, self.longestWait) = (max(limit, 1), max(capacity, 0), longestWait)
        self.onWaiting = onWaiting
        timebase = RelativeClock(clock)
        state = Locked(State(queue: TurnQueue(limit: max(limit, 1), capacity: max(capacity, 0))))
    }

    func around(_ next: any ServiceProtocol, at site: MiddlewareSite) -> (any ServiceProtocol)? {
        LimitedService(limiter: self, next: next, isLocal: !(site.implementation is TransportService))
    }

    func respond(to request: ServiceRequest, by next: any ServiceProtocol, isLocal: Bool) async throws -> ServiceResponse {
        // Calls of a connection that is being set up never wait: others may hold their turn until it is signed in.
        guard !request.params.concernsConnection, !isLocal || !Self.held.contains(ObjectIdentifier(self)) else {
            return try await next.respond(to: request)
        }
        var request = request
        switch state.withLock({ $0.queue.enterAtOnce() }) {
        case .goes: break
        case .waits: try await waitForTurn(of: &request)
        case .isFull: throw isFull("'\(request.method)' on service '\(request.path)'")
        }
        defer { leave() }
        guard isLocal else { return try await next.respond(to: request) }
        return try await Self.$held.withValue(Self.held.union([ObjectIdentifier(self)])) { [request] in
            try await next.respond(to: request)
        }
    }

    /// Waits, and deducts the time from the request's timeout.
    private func waitForTurn(of request: inout ServiceRequest) async throws {
        try Task.checkCancellation()
        let start = timebase.now
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let what = "'\(request.method)' on service '\(request.path)'"
        if let limit = request.params.timeout ?? longestWait {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await self.wait(id, what)
                    return true
                }
                group.addTask {
                    if (try? await self.timebase.sleep(until: start + limit)) != nil { self.giveUp(id, self.tooLate(what, limit)) }
                    return false
                }
                defer { group.cancelAll() }
                // A turn that was obtained must not be lost to a simultaneous timeout, so only the wait itself decides how it ended.
                while try await group.next() == false {}
            }
        } else {
            try await wait(id, what)
        }
        request.params.deductTimeout(since: start, on: timebase)
    }

    private func wait(_ id: Int, _ what: String) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let (entry, waiting) = state.withLock { ($0.queue.enter(id, waiter), $0.queue.waiting) }
                switch entry {
                case .goes: waiter.resume()
                case .isFull: waiter.resume(throwing: isFull(what))
                case .waits:
                    onWaiting(waiting)
                    // A cancellation before the registration found no waiter to resume.
                    if Task.isCancelled { giveUp(id, CancellationError()) }
                }
            }
        } onCancel: {
            giveUp(id, CancellationError())
        }
    }

    private func giveUp(_ id: Int, _ error: any Error) {
        state.withLock { $0.queue.giveUp(id) }?.resume(throwing: error)
    }

    private func leave() {
        state.withLock { $0.queue.leave() }?.resume()
    }

    private func isFull(_ what: String) -> FeathersError {
        FeathersError(
            .tooManyRequests, "\(what) was not made: \(limit) calls are under way, and \(capacity) wait already, which is as many as may",
            execution: .neverSent)
    }

    private func tooLate(_ what: String, _ limit: Duration) -> FeathersError {
        FeathersError(
            .timeout, "\(what) waited \(limit) for its turn: no more than \(self.limit) calls go at once", execution: .neverSent)
    }
}

private struct LimitedService: ServiceProtocol {
    let limiter: CallLimiter
    let next: any ServiceProtocol
    let isLocal: Bool

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await limiter.respond(to: request, by: next, isLocal: isLocal)
    }
}

extension Params {
    /// Deducts the time since `start` from the timeout, if there is one, for a call that has waited before it is sent.
    mutating func deductTimeout(since start: Duration, on clock: RelativeClock) {
        if let timeout { self.timeout = max(timeout - (clock.now - start), .zero) }
    }
}

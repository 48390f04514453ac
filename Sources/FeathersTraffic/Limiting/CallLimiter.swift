public import FeathersCore
import FeathersSupport

extension Hooks {
    /// Limits how many calls are in flight at the same time. Further calls wait in order.
    ///
    /// ```swift
    /// app.use(hooks: .limiting(to: 6))
    /// await reports.use(hooks: .limiting(to: 1, waiting: 10))
    /// ```
    ///
    /// For an app, the limit applies to the calls of all services and endpoints together; for a service, to its own.
    /// Calls wait after their hooks have run, so a call that waits for a sign-in does not count toward the limit.
    /// Waiting can be cancelled, and counts toward the call's timeout.
    ///
    /// If the queue is full, a call fails with ``FeathersError/Code/tooManyRequests``. If its time ends while it waits,
    /// it fails with ``FeathersError/Code/timeout``. In both cases, it was never sent, so `retrying` can retry the
    /// former.
    /// - Parameters:
    ///   - limit: The maximum number of calls in flight, at least one.
    ///   - capacity: The maximum number of waiting calls.
    ///   - longestWait: How long a call without a timeout can wait; nil for no limit.
    ///   - scope: The methods that are limited.
    public static func limiting(
        to limit: Int, waiting capacity: Int = 1000, longestWait: Duration? = .seconds(60), for scope: HookScope = .all
    ) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[scope] = [CallLimiter(limit: limit, capacity: capacity, longestWait: longestWait)]
        return hooks
    }
}

/// Limits how many calls are in flight at the same time, and lets the others wait in order.
final class CallLimiter: Middleware {
    private struct State: Sendable {
        var queue: TurnQueue<Promise<Void>>
        var lastID = 0
    }

    /// The limiters whose turn the current task holds. A local service's call must not wait for the turn during which
    /// it is made.
    @TaskLocal fileprivate static var held: Set<ObjectIdentifier> = []

    let order = MiddlewareOrder.limiting
    private let limit: Int
    private let capacity: Int
    private let longestWait: Duration?
    private let timebase: RelativeClock
    /// Called with the number of waiting calls, each time it increases.
    private let onWaiting: @Sendable (Int) -> Void
    private let state: Locked<State>

    init(
        limit: Int, capacity: Int, longestWait: Duration?, clock: any Clock<Duration> = ContinuousClock(),
        onWaiting: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.limit, self.capacity, self.longestWait) = (max(limit, 1), max(capacity, 0), longestWait)
        self.onWaiting = onWaiting
        timebase = RelativeClock(clock)
        state = Locked(State(queue: TurnQueue(limit: max(limit, 1), capacity: max(capacity, 0))))
    }

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        LimitedResponder(limiter: self, next: next, isLocal: !(site.implementation is RemoteResponder))
    }

    /// Waits for a turn, and deducts the waiting time from the request's timeout.
    func takeTurn(for request: inout ServiceRequest) async throws {
        let (entry, line) = state.withLock { state in
            let entry = state.queue.enterAtOnce()
            // Most calls proceed immediately and need no promise.
            guard entry == .waits else { return (entry, nil as (id: Int, waiter: Promise<Void>, count: Int)?) }
            state.lastID += 1
            let waiter = Promise<Void>()
            return (state.queue.enter(state.lastID, waiter), (state.lastID, waiter, state.queue.waiting))
        }
        if entry == .isFull { throw isFull(request) }
        guard let (id, waiter, count) = line else { return }
        onWaiting(count)
        let start = timebase.now
        do {
            let limit = request.params.timeout ?? longestWait
            let error = tooLate(request, limit)
            try await timebase.run(atMost: limit, orThrow: error) { try await waiter.value() }
        } catch {
            _ = state.withLock { $0.queue.giveUp(id) }
            // The turn may have been granted at the last moment.
            if !waiter.fail(error) { leave() }
            throw error
        }
        request.params.deductTimeout(since: start, on: timebase)
    }

    /// Passes the turn on to the next call that still waits.
    func leave() {
        while let waiter = state.withLock({ $0.queue.leave() }), !waiter.resolve(()) {}
    }

    private func isFull(_ request: ServiceRequest) -> FeathersError {
        let reason = "the limits of \(limit) in flight and \(capacity) waiting are reached"
        return FeathersError(
            .tooManyRequests, "'\(request.method)' on service '\(request.path)' was not sent: \(reason)",
            execution: .neverSent)
    }

    private func tooLate(_ request: ServiceRequest, _ limit: Duration?) -> FeathersError {
        let reason = "the limit of calls in flight is \(self.limit)"
        return FeathersError(
            .timeout,
            "'\(request.method)' on service '\(request.path)' was not sent within \(limit ?? .zero): \(reason)",
            execution: .neverSent)
    }
}

private struct LimitedResponder: Responder {
    let limiter: CallLimiter
    let next: any Responder
    let isLocal: Bool

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let held = CallLimiter.held
        // Calls that set up a connection never wait: others may hold their turns until it is signed in.
        guard !request.params.concernsConnection, !isLocal || !held.contains(ObjectIdentifier(limiter)) else {
            return try await next.respond(to: request)
        }
        var request = request
        try await limiter.takeTurn(for: &request)
        defer { limiter.leave() }
        guard isLocal else { return try await next.respond(to: request) }
        return try await CallLimiter.$held.withValue(held.union([ObjectIdentifier(limiter)])) { [request] in
            try await next.respond(to: request)
        }
    }
}

extension Params {
    /// Deducts the time since `start` from the timeout, if there is one, for a call that has waited before it is sent.
    mutating func deductTimeout(since start: Duration, on clock: RelativeClock) {
        if let timeout { self.timeout = max(timeout - (clock.now - start), .zero) }
    }
}

public import FeathersCore
import FeathersSupport
import Synchronization

extension Hooks {
    /// Limits how many calls are in flight at the same time. Further calls wait in order.
    ///
    /// ```swift
    /// app.use(hooks: .limiting(to: 6))
    /// await reports.use(hooks: .limiting(to: 1, waiting: 10))
    /// ```
    ///
    /// For an app, the limit applies to the calls that leave the process: those of endpoints and of services on a
    /// server. Calls of local services do not count, but the calls that they make do. For a service, the limit applies
    /// to its own calls, also if it is local. Calls that it makes to itself meanwhile share the turn.
    ///
    /// Calls wait after their hooks have run, so a call that waits for a sign-in does not count toward the limit.
    /// Waiting can be cancelled, and counts toward the call's timeout. A streamed result counts until it begins.
    ///
    /// With a group other than `.all`, each service, or each user of a service, has its own limit, so that a slow
    /// service or a busy user does not take the turns of the others.
    ///
    /// Two local services with limits that call each other can wait for each other until their time ends.
    ///
    /// If the queue is full, a call fails with ``FeathersError/Code/tooManyRequests``. If its time ends while it waits,
    /// it fails with ``FeathersError/Code/timeout``. In both cases, it was never sent, so `retrying` can retry the
    /// former.
    /// - Parameters:
    ///   - limit: The maximum number of calls in flight, at least one.
    ///   - capacity: The maximum number of waiting calls.
    ///   - group: What calls are counted together.
    ///   - longestWait: How long a call without a timeout can wait; nil for no limit.
    ///   - scope: The methods that are limited.
    public static func limiting(
        to limit: Int, waiting capacity: Int = 1000, per group: CallGroup = .all,
        longestWait: Duration? = .seconds(60), for scope: HookScope = .all
    ) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[scope] = [
            CallLimiter(limit: limit, capacity: capacity, per: group, longestWait: longestWait)
        ]
        return hooks
    }
}

/// Limits how many calls are in flight at the same time, and lets the others wait in order.
final class CallLimiter: Middleware {
    /// The calls that are counted together.
    struct Key: Hashable {
        let path: String?
        let user: String?
    }

    private struct State: Sendable {
        /// The queues with calls in flight.
        var queues: [Key: TurnQueue<Promise<Void>>] = [:]
        var lastID = 0
    }

    /// The turn of a local service's call, which the calls within it share.
    final class Turn: Sendable {
        private let limiter: CallLimiter
        private let isOver = Atomic(false)

        init(_ limiter: CallLimiter) { self.limiter = limiter }

        func end() { isOver.store(true, ordering: .releasing) }

        /// Whether a call that is made within this turn has one of a limiter. Tasks may outlive the turn.
        func isTurn(of other: CallLimiter) -> Bool { limiter === other && !isOver.load(ordering: .acquiring) }
    }

    /// The turns of the local services within which the current task makes calls. A call that waited for one of them
    /// would wait for itself.
    @TaskLocal fileprivate static var held: [Turn] = []

    let order = MiddlewareOrder.limiting
    private let limit: Int
    private let capacity: Int
    private let group: Hooks.CallGroup
    private let longestWait: Duration?
    private let timebase: RelativeClock
    /// Called with the number of waiting calls, each time it increases.
    private let onWaiting: @Sendable (Int) -> Void
    private let state = Locked(State())

    init(
        limit: Int, capacity: Int, per group: Hooks.CallGroup = .all, longestWait: Duration?,
        clock: any Clock<Duration> = ContinuousClock(),
        onWaiting: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.limit, self.capacity, self.longestWait) = (max(limit, 1), max(capacity, 0), longestWait)
        (self.group, self.onWaiting) = (group, onWaiting)
        timebase = RelativeClock(clock)
    }

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        // A local service's call would hold its turn while it waits for those of the calls that it makes.
        if site.isWholeApp, !site.isRemote { return nil }
        // The same hooks may be registered for the app and for a service.
        if (next as? LimitedResponder)?.isLimited(by: self) == true { return nil }
        return LimitedResponder(limiter: self, next: next, site: site)
    }

    func key(of request: ServiceRequest) -> Key {
        switch group {
        case .all: Key(path: nil, user: nil)
        case .service: Key(path: request.path, user: nil)
        case .serviceAndUser: Key(path: request.path, user: request.callToken?.digest)
        }
    }

    /// Waits for a turn, and deducts the waiting time from the request's timeout.
    func takeTurn(of key: Key, for request: inout ServiceRequest, in app: FeathersApp?) async throws {
        let (entry, line) = state.withLock { state in
            // Changed in place, because a copy would take time for all that wait.
            let entry = state.queues[key, default: TurnQueue(limit: limit, capacity: capacity)].enterAtOnce()
            // Most calls proceed immediately and need no promise.
            guard entry == .waits else { return (entry, nil as (id: Int, waiter: Promise<Void>, count: Int)?) }
            state.lastID += 1
            let waiter = Promise<Void>()
            let id = state.lastID
            _ = state.queues[key]?.enter(id, waiter)
            return (entry, (id, waiter, state.queues[key]?.waiting ?? 0))
        }
        if entry == .isFull { throw isFull(request) }
        guard let (id, waiter, count) = line else { return }
        app?.countWaitingForTurns(1)
        defer { app?.countWaitingForTurns(-1) }
        onWaiting(count)
        let start = timebase.now
        do {
            let limit = DeadlineScope.bound(request.params.timeout ?? longestWait)
            let error = tooLate(request, limit)
            try await timebase.run(atMost: limit, orThrow: error) { try await waiter.value() }
        } catch {
            _ = state.withLock { $0.queues[key]?.giveUp(id) }
            // The turn may have been granted at the last moment.
            if !waiter.fail(error) { leave(key) }
            throw error
        }
        request.params.deductTimeout(since: start, on: timebase)
    }

    /// Passes the turn on to the next call that still waits.
    func leave(_ key: Key) {
        while let waiter = state.withLock({ state in
            let waiter = state.queues[key]?.leave()
            if state.queues[key]?.running == 0 { state.queues[key] = nil }
            return waiter
        }), !waiter.resolve(()) {}
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
    let site: MiddlewareSite

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let held = CallLimiter.held
        // Calls that set up a connection never wait: others may hold their turns until it is signed in.
        guard !request.params.concernsConnection, !held.contains(where: { $0.isTurn(of: limiter) }) else {
            return try await next.respond(to: request)
        }
        var request = request
        let key = limiter.key(of: request)
        try await limiter.takeTurn(of: key, for: &request, in: site.app)
        defer { limiter.leave(key) }
        if site.isRemote { return try await next.respond(to: request) }
        let turn = CallLimiter.Turn(limiter)
        defer { turn.end() }
        return try await CallLimiter.$held.withValue(held + [turn]) { [request] in
            try await next.respond(to: request)
        }
    }

    /// Whether the calls already take a turn of a limiter.
    func isLimited(by limiter: CallLimiter) -> Bool {
        self.limiter === limiter || (next as? LimitedResponder)?.isLimited(by: limiter) == true
    }
}

extension Params {
    /// Deducts the time since `start` from the timeout, if there is one, for a call that has waited before it is sent.
    mutating func deductTimeout(since start: Duration, on clock: RelativeClock) {
        if let timeout { self.timeout = max(timeout - (clock.now - start), .zero) }
    }
}

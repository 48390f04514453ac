import FeathersCore
import FeathersSupport

/// Lets so many calls go at once and the others wait for their turn, in order.
final class CallLimiter: RequestStage {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State: Sendable {
        var queue: TurnQueue<Waiter>
        var lastID = 0
    }

    /// The limiters whose turn the current task has: what a service calls in the process of its turn must not wait for it to end.
    @TaskLocal private static var held: Set<ObjectIdentifier> = []

    let place = RequestStagePlace.limiting
    private let limit: Int
    private let capacity: Int
    private let longestWait: Duration?
    private let timebase: RelativeClock
    private let onWaiting: @Sendable (Int) -> Void
    private let state: Locked<State>

    /// - Parameter onWaiting: hears how many calls wait, whenever one more does.
    init(
        limit: Int, capacity: Int, longestWait: Duration?, clock: any Clock<Duration>, onWaiting: @escaping @Sendable (Int) -> Void
    ) {
        (self.limit, self.capacity, self.longestWait) = (max(limit, 1), max(capacity, 0), longestWait)
        self.onWaiting = onWaiting
        timebase = RelativeClock(clock)
        state = Locked(State(queue: TurnQueue(limit: max(limit, 1), capacity: max(capacity, 0))))
    }

    func around(_ next: any ServiceProtocol, at site: RequestSite) -> (any ServiceProtocol)? {
        LimitedService(limiter: self, next: next, isLocal: !(site.implementation is TransportService))
    }

    fileprivate func respond(to request: ServiceRequest, by next: any ServiceProtocol, isLocal: Bool) async throws -> JSONValue {
        // Others may wait for a sign-in with their turn taken.
        guard request.params[ConnectionCall.self] == nil, !isLocal || !Self.held.contains(ObjectIdentifier(self)) else {
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

    /// Waits; what is left of the request's time is its time from then on.
    private func waitForTurn(of request: inout ServiceRequest) async throws {
        try Task.checkCancellation()
        let start = timebase.now
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        if let limit = request.params.timeout ?? longestWait {
            let what = "'\(request.method)' on service '\(request.path)'"
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
                // A turn that was got must be kept, whatever comes at the same time: so only the wait itself says how it ended.
                while try await group.next() == false {}
            }
        } else {
            try await wait(id, "'\(request.method)' on service '\(request.path)'")
        }
        if let timeout = request.params.timeout { request.params.timeout = max(timeout - (timebase.now - start), .zero) }
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
                    // A cancellation before the registration found nobody to wake.
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

    func respond(to request: ServiceRequest) async throws -> JSONValue {
        try await limiter.respond(to: request, by: next, isLocal: isLocal)
    }
}

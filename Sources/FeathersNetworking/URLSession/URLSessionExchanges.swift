import FeathersSupport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exchanges in flight in a session. Finds the exchange for a task, enforces deadlines, and ends all exchanges
/// together.
final class URLSessionExchanges: Sendable {
    private struct State {
        var running: [Int: URLSessionExchange] = [:]
        var isClosed = false
        var generation = 0
        /// The number of callers that are currently creating a task.
        var makers = 0
        /// When the timer fires, or nil if nothing has a deadline.
        var nextCheck: ContinuousClock.Instant?
        var timer: DeadlineTimer?

        /// Returns the reason why an exchange must not begin, or nil if it may.
        func obstacle(to exchange: URLSessionExchange) -> HTTPClientError? {
            if isClosed { return .clientClosed(host: exchange.host, delivery: .neverSent) }
            return exchange.generation == generation ? nil : .allCancelled(host: exchange.host, delivery: .neverSent)
        }
    }

    private let state = Locked(State())

    /// Identifies the exchanges that the next ``cancelAll()`` ends: those registered with this number.
    var generation: Int { state.withLock { $0.generation } }

    deinit { state.withLock { $0.timer }?.cancel() }

    subscript(task: URLSessionTask) -> URLSessionExchange? { state.withLock { $0.running[task.taskIdentifier] } }

    func remove(_ task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.running.removeValue(forKey: task.taskIdentifier) }
    }

    /// Creates the task of an exchange and registers it before it is resumed, so that no callback can arrive too early.
    /// - Throws: ``HTTPClientError/Kind/closed`` after ``close(_:)``, or after a ``cancelAll()`` since the caller's
    ///   request began.
    func register(
        _ exchange: URLSessionExchange, asTaskOf session: URLSession, for request: URLRequest
    ) throws(HTTPClientError) -> URLSessionDataTask {
        let early = state.withLock { state in
            let obstacle = state.obstacle(to: exchange)
            if obstacle == nil { state.makers += 1 }
            return obstacle
        }
        if let early { throw early }
        // Done outside the lock, because it waits for the session's own queue. The session isn't invalidated in the
        // meantime: creating a task in an invalidated session crashes the process.
        let task =
            exchange.upload.map { session.uploadTask(with: request, fromFile: $0.url) }
            ?? session.dataTask(with: request)
        let (obstacle, mustInvalidate) = state.withLock { state in
            state.makers -= 1
            let obstacle = state.obstacle(to: exchange)
            if obstacle == nil { state.running[task.taskIdentifier] = exchange }
            return (obstacle, state.isClosed && state.makers == 0)
        }
        if obstacle != nil { task.cancel() }
        if mustInvalidate { session.finishTasksAndInvalidate() }
        if let obstacle { throw obstacle }
        if let deadline = exchange.deadline { watch(deadline) }
        return task
    }

    /// Ends everything in flight, including redirects that have not been followed yet.
    func cancelAll() {
        let cancelled = state.withLock { state in
            state.generation += 1
            // Each exchange stays registered until its task has ended, because the session may still need it.
            return Array(state.running.values)
        }
        for exchange in cancelled { exchange.fail(HTTPClientError.allCancelled(host: exchange.host)) }
    }

    /// Closes the session and ends everything in flight. Later exchanges fail.
    func close(_ session: URLSession) {
        let (abandoned, mayInvalidate) = state.withLock { state in
            state.isClosed = true
            defer { state.running = [:] }
            return (Array(state.running.values), state.makers == 0)
        }
        // Each exchange is cancelled individually if that is safe. `invalidateAndCancel` would not check.
        for exchange in abandoned { exchange.fail(HTTPClientError.clientClosed(host: exchange.host)) }
        // Otherwise, the last caller that is creating a task invalidates the session.
        if mayInvalidate { session.finishTasksAndInvalidate() }
    }

    private func watch(_ deadline: ContinuousClock.Instant) {
        let timer: DeadlineTimer? = state.withLock { state in
            if let nextCheck = state.nextCheck, nextCheck <= deadline { return nil }
            state.nextCheck = deadline
            let timer = state.timer ?? DeadlineTimer { [weak self] in self?.checkDeadlines() }
            state.timer = timer
            return timer
        }
        timer?.schedule(at: deadline)
    }

    private func checkDeadlines() {
        let now = ContinuousClock.now
        let (late, next) = state.withLock { state in
            var late: [URLSessionExchange] = []
            var next: ContinuousClock.Instant?
            for exchange in state.running.values {
                guard let deadline = exchange.deadline else { continue }
                if deadline <= now {
                    late.append(exchange)
                } else if next.map({ deadline < $0 }) ?? true {
                    next = deadline
                }
            }
            state.nextCheck = nil
            return (late, next)
        }
        for exchange in late { exchange.fail(HTTPClientError(.timeout, "The request timed out", host: exchange.host)) }
        if let next { watch(next) }
    }
}

import FeathersCore
import FeathersSupport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exchanges under way in one session: finds the one a task belongs to, watches their deadlines, ends them together.
final class URLSessionExchanges: Sendable {
    private struct State {
        var running: [Int: URLSessionExchange] = [:]
        var isClosed = false
        /// How many callers are just making a task.
        var makers = 0
        /// When the timer fires; nil while nothing has a deadline.
        var nextCheck: ContinuousClock.Instant?
        var timer: DeadlineTimer?
    }

    private let state = Locked(State())

    deinit {
        state.withLock { $0.timer }?.cancel()
    }

    /// How many exchanges are under way.
    var count: Int {
        state.withLock { $0.running.count }
    }

    /// The exchange a task belongs to.
    subscript(task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.running[task.taskIdentifier] }
    }

    /// The exchange a task belonged to until now.
    func remove(_ task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.running.removeValue(forKey: task.taskIdentifier) }
    }

    /// Makes the task of an exchange and registers it, so that nothing reported about it can come too early.
    /// - Returns: the task, not yet resumed; nil after ``close(_:)``.
    func register(_ exchange: URLSessionExchange, asTaskOf session: URLSession, for request: URLRequest) -> URLSessionDataTask? {
        let mayMake = state.withLock { state in
            if !state.isClosed { state.makers += 1 }
            return !state.isClosed
        }
        guard mayMake else { return nil }
        // Outside the lock, since it waits for the session's own queue. Nobody invalidates the session meanwhile: a task
        // made in an invalidated one ends the process.
        let task = exchange.upload.map { session.uploadTask(with: request, fromFile: $0.url) } ?? session.dataTask(with: request)
        let (isRegistered, mustInvalidate) = state.withLock { state in
            state.makers -= 1
            if !state.isClosed { state.running[task.taskIdentifier] = exchange }
            return (!state.isClosed, state.isClosed && state.makers == 0)
        }
        if !isRegistered { task.cancel() }
        if mustInvalidate { session.finishTasksAndInvalidate() }
        if let deadline = exchange.deadline { watch(deadline) }
        return isRegistered ? task : nil
    }

    /// Ends the session and what is under way; every later exchange is refused.
    func close(_ session: URLSession) {
        let (abandoned, mayInvalidate) = state.withLock { state in
            state.isClosed = true
            defer { state.running = [:] }
            return (Array(state.running.values), state.makers == 0)
        }
        // Each is cancelled by itself, where it may be; the session's own way would not look whether it may.
        for exchange in abandoned { exchange.fail(.closed, "The HTTP client was closed") }
        // Otherwise the last one who is making a task does.
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
                if deadline <= now { late.append(exchange) } else if next.map({ deadline < $0 }) ?? true { next = deadline }
            }
            state.nextCheck = nil
            return (late, next)
        }
        for exchange in late { exchange.fail(.timeout, "No complete answer came in time") }
        if let next { watch(next) }
    }
}

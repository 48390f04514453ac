import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session's delegate: hands what URLSession reports to the exchange it belongs to.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    private struct State {
        var running: [Int: URLSessionExchange] = [:]
        var isClosed = false
        var ended: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    deinit {
        state.withLock { $0.ended }?()
    }

    func onEnd(_ ended: @escaping @Sendable () -> Void) {
        state.withLock { $0.ended = ended }
    }

    /// Makes the task of an exchange and registers it, so that nothing reported about it can come too early.
    /// - Returns: the task, not yet resumed; nil after ``close()``.
    func register(_ exchange: URLSessionExchange, asTaskOf session: URLSession, for request: URLRequest) -> URLSessionDataTask? {
        state.withLock { state in
            // A task made in an invalidated session ends the process, hence inside the lock that `close` takes.
            guard !state.isClosed else { return nil }
            let task = session.dataTask(with: request)
            state.running[task.taskIdentifier] = exchange
            return task
        }
    }

    /// Refuses every later exchange and returns those under way.
    func close() -> [URLSessionExchange] {
        state.withLock { state in
            state.isClosed = true
            defer { state.running = [:] }
            return Array(state.running.values)
        }
    }

    /// How many exchanges are under way.
    var count: Int {
        state.withLock { $0.running.count }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.running[dataTask.taskIdentifier] }?.received(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = state.withLock { $0.running.removeValue(forKey: task.taskIdentifier) }
        exchange?.completed(task.response, error)
    }

    /// Redirects are followed by the client itself: URLSession's own rules differ between platforms and keep `Authorization` across origins.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Leaves challenges to the configuration: server trust is evaluated as usual, and without credentials a 401 is simply the answer.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux (before corelibs #5457) never ends a task it finds no credential for, although the whole 401 has arrived by now.
            if let response = challenge.failureResponse, challenge.proposedCredential == nil || challenge.previousFailureCount > 0 {
                state.withLock { $0.running.removeValue(forKey: task.taskIdentifier) }?.completed(response, nil)
                completionHandler(.cancelAuthenticationChallenge, nil)
                return
            }
        #endif
        completionHandler(.performDefaultHandling, nil)
    }
}

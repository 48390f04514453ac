import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request on its way: collects the answer and wakes the caller exactly once.
///
/// Four parties race to end it: the answer, the deadline, cancellation and the closing client. The first one to take the
/// continuation out of the lock wins; the others find nothing to do.
final class URLSessionExchange: Sendable {
    private enum Phase {
        case new
        /// Ended before it began: `begin` throws the error.
        case endedEarly(any Error)
        case running(Running)
        case ended
    }

    private struct Running {
        var task: URLSessionDataTask
        var continuation: CheckedContinuation<HTTPResponse, any Error>
        /// The place in the queue of deadlines.
        var deadline: Int?
        var body: [UInt8] = []
    }

    private let request: HTTPRequest
    private let deadlines: DeadlineQueue
    private let phase = Mutex(Phase.new)

    init(_ request: HTTPRequest, deadlines: DeadlineQueue) {
        self.request = request
        self.deadlines = deadlines
    }

    private var host: String? { request.url.hostAndPort }

    /// Starts the task; from here on the continuation is this exchange's to resume.
    func begin(_ task: URLSessionDataTask, deadline: ContinuousClock.Instant?, continuation: CheckedContinuation<HTTPResponse, any Error>) {
        let deadline = deadline.map { deadlines.add(at: $0) { [weak self] in self?.timeOut() } }
        let earlyError: (any Error)? = phase.withLock { phase in
            if case .endedEarly(let error) = phase { return error }
            phase = .running(Running(task: task, continuation: continuation, deadline: deadline))
            return nil
        }
        if let earlyError {
            if let deadline { deadlines.remove(deadline) }
            task.cancel()
            continuation.resume(throwing: earlyError)
        } else {
            // A task cancelled in between stays cancelled: resuming it then does nothing.
            task.resume()
        }
    }

    func received(_ data: Data) {
        let isTooLarge = phase.withLock { phase in
            guard case .running(var running) = phase else { return false }
            guard data.count <= request.maximumResponseBytes - running.body.count else { return true }
            // Emptied first, so that the buffer has one owner and grows in place.
            phase = .ended
            running.body.append(contentsOf: data)
            phase = .running(running)
            return false
        }
        if isTooLarge {
            fail(HTTPClientError(.responseTooLarge, "The answer is larger than \(request.maximumResponseBytes) bytes", host: host))
        }
    }

    func completed(_ response: URLResponse?, _ error: (any Error)?) {
        guard let running = end(.ended) else { return }
        if let error {
            running.continuation.resume(throwing: HTTPClientError(urlSession: error, host: host))
        } else if let response = response as? HTTPURLResponse {
            running.continuation.resume(returning: HTTPResponse(response, body: running.body, requested: request.url))
        } else {
            running.continuation.resume(throwing: HTTPClientError(.badResponse, "The answer is no HTTP", host: host))
        }
    }

    func fail(_ error: HTTPClientError) {
        abandon(error)
    }

    func cancel() {
        abandon(CancellationError())
    }

    private func timeOut() {
        abandon(HTTPClientError(.timeout, "No complete answer came in time", host: host))
    }

    private func abandon(_ error: any Error) {
        guard let running = end(.endedEarly(error)) else { return }
        running.task.cancel()
        running.continuation.resume(throwing: error)
    }

    /// Takes what is running out of the lock; where nothing runs yet, `early` is what `begin` will find.
    private func end(_ early: Phase) -> Running? {
        let running: Running? = phase.withLock { phase in
            switch phase {
            case .running(let running):
                phase = .ended
                return running
            case .new:
                phase = early
                return nil
            case .ended, .endedEarly:
                return nil
            }
        }
        if let deadline = running?.deadline { deadlines.remove(deadline) }
        return running
    }
}

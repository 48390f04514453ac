import Dispatch
import FeathersSupport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request in flight, which collects the response and resumes its caller exactly once. The response, the deadline,
/// cancellation, and closing the client race to end it. The first to take the continuation out of the lock wins; the
/// others are no-ops.
final class URLSessionExchange: Sendable {
    private enum Phase {
        case new
        /// Ended before it began. `begin` throws the error.
        case endedEarly(any Error)
        case running(Running)
        case ended
    }

    private struct Running {
        var task: URLSessionDataTask
        var continuation: CheckedContinuation<HTTPResponse, any Error>
        var body: [UInt8] = []
        var progress = TransferProgress()
        /// Whether the task is about to end by itself, so it must no longer be cancelled.
        var isEnding = false
        var isPaused = false
    }

    let deadline: ContinuousClock.Instant?
    /// The file to upload, or nil if the body is in memory or there is none.
    let upload: BodyFile?
    /// The client's ``URLSessionExchanges/generation`` when the caller's request began.
    let generation: Int
    private let request: HTTPRequest
    private let streams: HTTPStreams?
    private let phase = Locked(Phase.new)

    init(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant?, streams: HTTPStreams?, upload: BodyFile?,
        generation: Int
    ) {
        self.request = request
        self.deadline = deadline
        self.streams = streams
        self.upload = upload
        self.generation = generation
    }

    var host: String? { request.url.hostAndPort }

    /// Starts the task and takes ownership of the continuation.
    func begin(_ task: URLSessionDataTask, continuation: CheckedContinuation<HTTPResponse, any Error>) {
        let earlyError: (any Error)? = phase.withLock { phase in
            if case .endedEarly(let error) = phase { return error }
            let total = upload?.count ?? Int64(request.body?.count ?? 0)
            phase = .running(
                Running(task: task, continuation: continuation, progress: TransferProgress(totalToSend: total)))
            return nil
        }
        if let earlyError {
            task.cancel()
            var unsent = earlyError as? HTTPClientError
            unsent?.delivery = .neverSent
            continuation.resume(throwing: unsent ?? earlyError)
        } else {
            // If the task was cancelled in the meantime, resuming it does nothing.
            task.resume()
        }
    }

    func received(_ data: Data, of response: URLResponse?) {
        guard let streams else { return collect(data) }
        let response = response as? HTTPURLResponse
        if let pipe = streams.transfer.pipe, let response, (200..<300).contains(response.statusCode) {
            write(data, to: pipe)
        } else if let download = streams.download, let response, (200..<300).contains(response.statusCode) {
            do {
                try data.withUnsafeBytes { try download.write($0) }
            } catch {
                return fail(error)
            }
        } else {
            collect(data)
        }
        let isCompressed = response?.value(forHTTPHeaderField: "Content-Encoding") != nil
        let expected = isCompressed ? nil : response?.value(forHTTPHeaderField: "Content-Length").flatMap(Int64.init)
        report {
            $0.received += Int64(data.count)
            $0.totalToReceive = expected
        }
    }

    /// Passes on the head of a successful response that streams.
    func receivedHead(_ response: URLResponse) {
        guard let pipe = streams?.transfer.pipe, let response = response as? HTTPURLResponse,
            (200..<300).contains(response.statusCode)
        else {
            return
        }
        pipe.open(HTTPResponse(response, body: [], to: request)) { [weak self] in self?.setPaused(false) }
    }

    /// The number of unread bytes at which a task that cannot pause fails.
    private static let unreadLimit = 16 << 20

    /// Adds data to a pipe. If the pipe is full, the task waits for its reader.
    private func write(_ data: Data, to pipe: HTTPBodyPipe) {
        guard data.withUnsafeBytes({ pipe.write($0) }) else { return }
        #if canImport(FoundationNetworking)
            // Foundation on Linux cannot pause: a suspended task ends its connection and sends the request again, and a
            // blocked delegate stops every session of the process.
            if pipe.unreadCount > Self.unreadLimit {
                fail(
                    HTTPClientError(
                        .responseTooLarge,
                        "The reader is slower than the server: more than 16 MiB are unread. "
                            + "On Linux, URLSession cannot slow the server down; use CurlHTTPClient",
                        host: request.url.host()))
            }
        #else
            setPaused(true)
            // The reader may have made room in the meantime.
            if !pipe.isFull { setPaused(false) }
        #endif
    }

    private func setPaused(_ isPaused: Bool) {
        #if !canImport(FoundationNetworking)
            phase.withLock { phase in
                guard case .running(var running) = phase, running.isPaused != isPaused else { return }
                running.isPaused = isPaused
                phase = .running(running)
                // Called with the lock held, so that the calls reach the task in the order of the flag's changes.
                // Neither calls back.
                if isPaused { running.task.suspend() } else { running.task.resume() }
            }
        #endif
    }

    func sent(_ count: Int64) { report { $0.sent = count } }

    private func report(_ change: @Sendable (inout TransferProgress) -> Void) {
        guard let streams else { return }
        let progress: TransferProgress? = phase.withLock { phase in
            guard case .running(var running) = phase else { return nil }
            phase = .ended
            change(&running.progress)
            phase = .running(running)
            return running.progress
        }
        if let progress { streams.transfer.progress?(progress) }
    }

    private func collect(_ data: Data) {
        let isTooLarge = phase.withLock { phase in
            guard case .running(var running) = phase else { return false }
            guard data.count <= request.maximumResponseBytes - running.body.count else { return true }
            // Cleared first, so that the buffer has a single owner and grows in place.
            phase = .ended
            running.body.append(contentsOf: data)
            phase = .running(running)
            return false
        }
        if isTooLarge {
            fail(
                HTTPClientError(
                    .responseTooLarge, "The response is larger than \(request.maximumResponseBytes) bytes", host: host))
        }
    }

    /// Marks the task as about to end by itself. Returns `false` if the exchange has already ended.
    func willEnd() -> Bool {
        phase.withLock { phase in
            guard case .running(var running) = phase else { return false }
            running.isEnding = true
            phase = .running(running)
            return true
        }
    }

    func completed(_ response: URLResponse?, _ error: (any Error)?) {
        guard let running = end(.ended) else { return }
        if let error {
            running.continuation.resume(throwing: HTTPClientError(urlSession: error, host: host))
        } else if let response = response as? HTTPURLResponse {
            running.continuation.resume(returning: HTTPResponse(response, body: running.body, to: request))
        } else {
            running.continuation.resume(throwing: HTTPClientError(.badResponse, "The response isn't HTTP", host: host))
        }
    }

    /// Ends the exchange with an error from this client, or with `CancellationError`.
    func fail(_ error: any Error) {
        guard let running = end(.endedEarly(error)) else { return }
        streams?.transfer.pipe?.end(.failure(error))
        if !running.isEnding { URLSessionCancellations.cancel(running.task) }
        running.continuation.resume(throwing: error)
    }

    /// Takes the running exchange out of the lock. If nothing is running yet, stores `early` for `begin` to find.
    private func end(_ early: Phase) -> Running? {
        phase.withLock { phase in
            switch phase {
            case .running(let running):
                phase = .ended
                return running
            case .new:
                phase = early
                return nil
            case .ended, .endedEarly: return nil
            }
        }
    }
}

/// Cancels tasks one after another on a dedicated queue. On Linux, Foundation's `cancel()` waits for a queue that all
/// sessions share. A call from a cancellation handler can deadlock with the thread that is resuming the same task, and
/// a call from that queue would wait for itself.
enum URLSessionCancellations {
    private static let queue = DispatchQueue(label: "feathers.http.cancellations")

    static func cancel(_ task: URLSessionTask) { queue.async { task.cancel() } }
}

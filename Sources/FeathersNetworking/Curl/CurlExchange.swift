import FeathersSupport

#if os(Linux)
    import FeathersCore

    /// One request on its way: wakes the caller exactly once.
    ///
    /// The answer, the deadline, cancellation and the closing client race to end it. The first to take the continuation out of the
    /// lock wins; the others find nothing to do.
    final class CurlExchange: Sendable {
        private enum Phase: Sendable {
            case new
            case waiting(CheckedContinuation<HTTPResponse, any Error>)
            case ended
        }

        let request: HTTPRequest
        let deadline: ContinuousClock.Instant?
        /// What streams, and who watches; nil where bodies are in memory.
        let streams: HTTPStreams?
        private let phase = Locked(Phase.new)

        init(_ request: HTTPRequest, deadline: ContinuousClock.Instant?, streams: HTTPStreams? = nil) {
            self.request = request
            self.deadline = deadline
            self.streams = streams
        }

        var host: String? { request.url.hostAndPort }

        /// Takes the continuation, which is this exchange's to resume from here on.
        /// - Returns: false where the caller was cancelled before; it has been resumed then.
        func begin(_ continuation: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
            let isCancelled = phase.withLock { phase in
                guard case .new = phase else { return true }
                phase = .waiting(continuation)
                return false
            }
            if isCancelled { continuation.resume(throwing: CancellationError()) }
            return !isCancelled
        }

        /// Whether somebody still waits.
        var isWaiting: Bool {
            phase.withLock { phase in
                if case .waiting = phase { true } else { false }
            }
        }

        func finish(_ result: Result<HTTPResponse, HTTPClientError>) {
            guard let continuation = end() else { return }
            switch result {
            case .success(let response): continuation.resume(returning: response)
            case .failure(let error): continuation.resume(throwing: error)
            }
        }

        /// Resumes the caller with `CancellationError`.
        /// - Returns: whether it was waiting, that is, whether a transfer may have to be given up.
        func cancel() -> Bool {
            guard let continuation = end() else { return false }
            continuation.resume(throwing: CancellationError())
            return true
        }

        private func end() -> CheckedContinuation<HTTPResponse, any Error>? {
            phase.withLock { phase in
                defer { phase = .ended }
                guard case .waiting(let continuation) = phase else { return nil }
                return continuation
            }
        }
    }
#endif

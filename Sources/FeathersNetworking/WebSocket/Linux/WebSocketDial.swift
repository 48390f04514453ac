#if os(Linux)
    import CCurl
    import Foundation

    /// One attempt to open a connection: started once, ended once, cancelled at any moment.
    ///
    /// It runs on a thread of its own, since libcurl's dialling blocks here and there. Whoever waits is resumed at once, also where that
    /// thread has yet to clean up.
    final class WebSocketDial: Sendable {
        /// A multi handle that other threads may wake.
        ///
        /// Unchecked: `curl_multi_wakeup` is the one call libcurl allows from every thread, and it is made under the lock that the
        /// dialling thread takes before it frees the handle.
        private struct Wakeable: @unchecked Sendable {
            let multi: UnsafeMutableRawPointer
        }

        private enum Phase: Sendable {
            case new
            case dialling(CheckedContinuation<CurlWebSocketConnection, any Error>, Wakeable?)
            case over
        }

        private let phase = Locked(Phase.new)

        /// Starts the thread; `dial` returns a connection or throws.
        func start(
            _ continuation: CheckedContinuation<CurlWebSocketConnection, any Error>,
            _ dial: @escaping @Sendable (WebSocketDial) throws(WebSocketError) -> CurlWebSocketConnection
        ) {
            let isCancelled = phase.withLock { phase in
                guard case .new = phase else { return true }
                phase = .dialling(continuation, nil)
                return false
            }
            guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
            let isRunning = NetworkThread.start("feathers-dial") {
                do throws(WebSocketError) {
                    self.finish(.success(try dial(self)))
                } catch {
                    self.finish(.failure(error))
                }
            }
            if !isRunning { finish(.failure(WebSocketError(.cannotConnect, "The system grants no more threads"))) }
        }

        func cancel() {
            finish(.failure(CancellationError()))
        }

        /// Whether nobody waits any more.
        var isOver: Bool {
            phase.withLock { phase in
                if case .over = phase { true } else { false }
            }
        }

        /// Ends the attempt, unless it has ended; a connection that comes too late is dropped, which closes it.
        func finish(_ result: Result<CurlWebSocketConnection, any Error>) {
            let waiting: CheckedContinuation<CurlWebSocketConnection, any Error>? = phase.withLock { phase in
                defer { phase = .over }
                guard case .dialling(let continuation, let wakeable) = phase else { return nil }
                if let wakeable { curl_multi_wakeup(wakeable.multi) }
                return continuation
            }
            waiting?.resume(with: result)
        }

        /// Lets the end of the attempt wake this handle for as long as `body` runs.
        func waking<Result, Failure: Error>(
            _ multi: UnsafeMutableRawPointer, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            setWakeable(Wakeable(multi: multi))
            defer { setWakeable(nil) }
            return try body()
        }

        private func setWakeable(_ wakeable: Wakeable?) {
            phase.withLock { phase in
                if case .dialling(let continuation, _) = phase { phase = .dialling(continuation, wakeable) }
            }
        }
    }
#endif

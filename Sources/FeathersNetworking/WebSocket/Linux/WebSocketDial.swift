import FeathersSupport

#if os(Linux)
    import FeathersCore
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
            case dialling(CheckedContinuation<Void, Never>, Wakeable?)
            case over(Result<CurlWebSocketConnection, any Error>)
        }

        private let phase = Locked(Phase.new)

        /// Starts the thread; `dial` returns a connection or throws. The continuation is resumed when there is a ``result()``.
        func start(
            _ continuation: CheckedContinuation<Void, Never>,
            _ dial: @escaping @Sendable (WebSocketDial) throws(WebSocketError) -> CurlWebSocketConnection
        ) {
            let isCancelled = phase.withLock { phase in
                guard case .new = phase else { return true }
                phase = .dialling(continuation, nil)
                return false
            }
            guard !isCancelled else { return continuation.resume() }
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
            let waiting = phase.withLock { phase -> CheckedContinuation<Void, Never>? in
                switch phase {
                case .over:
                    return nil
                case .new:
                    phase = .over(result)
                    return nil
                case .dialling(let continuation, let wakeable):
                    if let wakeable { curl_multi_wakeup(wakeable.multi) }
                    phase = .over(result)
                    return continuation
                }
            }
            waiting?.resume()
        }

        /// How it ended; given once. Through the lock, since Thread Sanitizer does not see what a continuation hands over.
        func result() throws -> CurlWebSocketConnection {
            let result = phase.withLock { phase -> Result<CurlWebSocketConnection, any Error> in
                guard case .over(let result) = phase else { return .failure(CancellationError()) }
                phase = .over(.failure(CancellationError()))
                return result
            }
            return try result.get()
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

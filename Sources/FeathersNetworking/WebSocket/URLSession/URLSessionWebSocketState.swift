import FeathersSupport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The state of a connection on URLSession: opening, open, closing, or closed, with the continuation and the handler to
/// call. Both are called outside the lock, on the session's queue.
final class URLSessionWebSocketState: Sendable {
    private struct State: Sendable {
        var opening: CheckedContinuation<Void, any Error>?
        var handler: (@Sendable (WebSocketEvent) -> Void)?
        var isOpen = false
        var isClosing = false
        var isCancelled = false
        /// The connection's end, while earlier messages are still being received.
        var ending: WebSocketClosure?
        var closure: WebSocketClosure?
        var timer: DeadlineTimer?
    }

    /// The maximum number of bytes queued in URLSession. A single message may always be larger.
    private static let maximumQueuedBytes = 16 << 20

    private typealias Finish = (
        WebSocketClosure, CheckedContinuation<Void, any Error>?, (@Sendable (WebSocketEvent) -> Void)?
    )

    /// The time limit for receiving messages that precede the end.
    private static let receivingTimeout = Duration.seconds(5)

    let host: String
    /// The session's delegate queue, which is serial.
    let reports: OperationQueue
    private let state = Locked(State())
    private let queuedBytes = Locked(0)

    init(host: String) {
        self.host = host
        reports = OperationQueue()
        reports.maxConcurrentOperationCount = 1
    }

    /// The reason why messages cannot be sent, or nil if they can.
    var obstacle: WebSocketError? {
        let isOpen = state.withLock { $0.closure == nil && $0.ending == nil && !$0.isClosing }
        return isOpen ? nil : WebSocketError(.closed, "The WebSocket is closing or closed")
    }

    // MARK: Opening

    /// - Returns: `false` if opening has already ended. In that case, the continuation has been resumed.
    func waitForOpening(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        let error = state.withLock { state -> (any Error)? in
            if state.isCancelled { return CancellationError() }
            if let closure = state.closure { return Self.error(closure) }
            state.opening = continuation
            return nil
        }
        if let error { continuation.resume(throwing: error) }
        return error == nil
    }

    func opened() {
        state.withLock { $0.isOpen = true }
        takeOpening()?.resume()
    }

    func cancelOpening() { takeOpening(cancelling: true)?.resume(throwing: CancellationError()) }

    private func takeOpening(cancelling: Bool = false) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            if cancelling { state.isCancelled = true }
            state.timer?.cancel()
            defer { (state.opening, state.timer) = (nil, nil) }
            return state.opening
        }
    }

    // MARK: Sending

    /// Calls `hand` if there is room. Holds the lock meanwhile, so that messages are sent in the order in which they
    /// take up room.
    func enqueue(_ size: Int, _ hand: () -> Void) -> Bool {
        queuedBytes.withLock { bytes in
            guard bytes == 0 || bytes + size <= Self.maximumQueuedBytes else { return false }
            bytes += size
            hand()
            return true
        }
    }

    func dequeue(_ size: Int) { queuedBytes.withLock { $0 -= size } }

    // MARK: Receiving

    /// - Returns: `false` if the connection has already ended. In that case, the handler receives only `closed`.
    func listen(_ handler: @escaping @Sendable (WebSocketEvent) -> Void) -> Bool {
        let closure = state.withLock { state in
            if state.closure == nil { state.handler = handler }
            return state.closure
        }
        if let closure { reports.addOperation { handler(.closed(closure)) } }
        return closure == nil
    }

    func deliver(_ message: WebSocketMessage) { state.withLock { $0.handler }?(.message(message)) }

    // MARK: Closing

    func beginClosing() -> Bool {
        state.withLock { state in
            guard state.closure == nil, !state.isClosing else { return false }
            state.isClosing = true
            return true
        }
    }

    /// Disconnects when the time is up, unless the connection has opened or ended by then.
    func limit(_ task: URLSessionWebSocketTask, to duration: Duration, _ message: String) {
        let timer = DeadlineTimer { [weak self] in
            guard let self else { return }
            reports.addOperation { self.finish(WebSocketClosure(code: 1006, error: WebSocketError(.timeout, message))) }
            task.cancel()
        }
        let isOver = state.withLock { state in
            guard state.closure == nil else { return true }
            state.timer?.cancel()
            state.timer = timer
            return false
        }
        if isOver { timer.cancel() } else { timer.schedule(at: .now.advanced(by: duration)) }
    }

    /// Ends the connection. Earlier messages may still be in the task, so the handler learns of the end only when
    /// receiving fails or takes too long. Call it on the session's queue.
    func end(_ closure: WebSocketClosure, of task: URLSessionWebSocketTask) {
        let (isOpen, isFirst) = state.withLock { state in
            guard state.isOpen else { return (false, false) }
            let isFirst = state.ending == nil
            // A close code is more informative than a failure that results from it.
            if isFirst || closure.error == nil { state.ending = closure }
            return (true, isFirst)
        }
        guard isOpen else { return finish(closure) }
        guard isFirst else { return }
        limit(
            task, to: Self.receivingTimeout,
            "The messages before the end of the connection could not be received in time")
    }

    /// Ends the connection once: fails the opening, or calls the handler. Call it on the session's queue.
    func finish(_ closure: WebSocketClosure) {
        let (closure, opening, handler) = state.withLock { state in
            let closure = state.ending ?? closure
            guard state.closure == nil else { return Finish(closure, nil, nil) }
            state.closure = closure
            state.timer?.cancel()
            defer { (state.opening, state.handler, state.timer) = (nil, nil, nil) }
            return Finish(closure, state.opening, state.handler)
        }
        opening?.resume(throwing: Self.error(closure))
        handler?(.closed(closure))
    }

    private static func error(_ closure: WebSocketClosure) -> WebSocketError {
        closure.error ?? WebSocketError(.closed, "The WebSocket was closed with code \(closure.code)")
    }
}

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A WebSocket built on URLSession. If released without being closed, it closes with 1001.
final class URLSessionWebSocketConnection: WebSocketConnection {
    private static let closingTimeout = Duration.seconds(5)

    private let task: URLSessionWebSocketTask
    private let state: URLSessionWebSocketState

    init(task: URLSessionWebSocketTask, state: URLSessionWebSocketState) {
        self.task = task
        self.state = state
    }

    deinit { close(code: 1001, reason: "") }

    func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void) {
        if state.listen(handler) { Self.receive(task, state) }
    }

    /// Receives one message after another. Retains the task, but not the connection, in the meantime.
    private static func receive(_ task: URLSessionWebSocketTask, _ state: URLSessionWebSocketState) {
        task.receive { result in
            switch result {
            case .success(.string(let text)): state.deliver(.text(text))
            case .success(.data(let data)): state.deliver(.binary([UInt8](data)))
            case .success: break
            case .failure(let error):
                // The connection ends only here. Even after a delegate has reported the end, earlier messages can still
                // be received until receiving fails.
                state.reports.addOperation {
                    state.finish(WebSocketClosure(ended: task, error, host: state.host))
                    task.cancel()
                }
                return
            }
            receive(task, state)
        }
    }

    func sendNow(_ message: WebSocketMessage) throws(WebSocketError) {
        if let obstacle = state.obstacle { throw obstacle }
        guard state.enqueue(message.byteCount, { hand(message) }) else {
            throw WebSocketError(.queueFull, "The connection's send queue is full")
        }
    }

    func close(code: UInt16, reason: String) {
        guard state.beginClosing() else { return }
        let frame = WebSocketCloseFrame(code: code, reason: reason)
        // Foundation on Linux supports only the codes of RFC 6455.
        let closeCode = frame.code.flatMap { URLSessionWebSocketTask.CloseCode(rawValue: Int($0)) } ?? .normalClosure
        state.limit(task, to: Self.closingTimeout, "The server did not respond to the closing handshake in time")
        task.cancel(with: closeCode, reason: Data(frame.reason.utf8))
    }

    private func hand(_ message: WebSocketMessage) {
        let content: URLSessionWebSocketTask.Message =
            switch message {
            case .text(let text): .string(text)
            case .binary(let bytes): .data(Data(bytes))
            }
        task.send(content) { [task, state, size = message.byteCount] error in
            state.dequeue(size)
            guard let error else { return }
            state.reports.addOperation { state.end(WebSocketClosure(ended: task, error, host: state.host), of: task) }
        }
    }
}

/// The closing handshake (RFC 6455, section 7): which side has sent a close frame, and when the connection is over.
/// Exactly one action carries ``Action/finish``.
struct WebSocketClosing {
    /// The steps to take, in this order.
    struct Action {
        var send: WebSocketCloseFrame?
        var finish: WebSocketClosure?
    }

    private enum Phase { case open, closeSent, over }

    private var phase = Phase.open

    var isOpen: Bool { phase == .open }
    var isOver: Bool { phase == .over }

    mutating func closeRequested(_ frame: WebSocketCloseFrame) -> Action {
        guard phase == .open else { return Action() }
        phase = .closeSent
        return Action(send: frame)
    }

    /// Handles the peer's close frame. Whether it begins the handshake or responds to ours, our response completes the
    /// handshake.
    mutating func receivedClose(_ frame: WebSocketCloseFrame) -> Action {
        // Section 5.5.1: the response to a close frame repeats its code.
        let answer = frame.code.map { WebSocketCloseFrame(code: $0) } ?? WebSocketCloseFrame(code: 1000)
        return end(WebSocketClosure(code: frame.code ?? 1005, reason: frame.reason), telling: answer)
    }

    mutating func receivedViolation(_ violation: WebSocketViolation) -> Action {
        let kind: WebSocketError.Kind = violation.closeCode == 1009 ? .messageTooLarge : .protocolViolation
        let closure = WebSocketClosure(code: 1006, error: WebSocketError(kind, violation.message))
        return end(closure, telling: WebSocketCloseFrame(code: violation.closeCode))
    }

    mutating func lost(_ error: WebSocketError) -> Action {
        end(WebSocketClosure(code: 1006, error: error), telling: nil)
    }

    /// Handles the deadline for the peer's response to our close frame.
    mutating func deadlinePassed() -> Action {
        guard phase == .closeSent else { return Action() }
        return lost(WebSocketError(.timeout, "The server did not respond to the closing handshake in time"))
    }

    mutating func abandoned() -> Action {
        let closure = WebSocketClosure(
            code: 1006, error: WebSocketError(.closed, "The WebSocket was released without being closed"))
        return end(closure, telling: WebSocketCloseFrame(code: 1001))
    }

    private mutating func end(_ closure: WebSocketClosure, telling frame: WebSocketCloseFrame?) -> Action {
        defer { phase = .over }
        return switch phase {
        case .open: Action(send: frame, finish: closure)
        case .closeSent: Action(finish: closure)
        case .over: Action()
        }
    }
}

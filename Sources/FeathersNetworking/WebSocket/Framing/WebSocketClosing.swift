/// The closing handshake (RFC 6455, section 7): which side has sent a close frame, and when the connection is over. Exactly one action
/// carries ``Action/finish``.
struct WebSocketClosing {
    /// What is to be done, in this order.
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

    /// The peer closes, or answers our closing: either way the handshake is complete once it has its response.
    mutating func receivedClose(_ frame: WebSocketCloseFrame) -> Action {
        // Section 5.5.1: a close frame is answered with its own code.
        let answer = frame.code.map { WebSocketCloseFrame(code: $0) } ?? WebSocketCloseFrame(code: 1000)
        return end(WebSocketClosure(code: frame.code ?? 1005, reason: frame.reason), telling: answer)
    }

    mutating func receivedViolation(_ violation: WebSocketViolation) -> Action {
        let kind: WebSocketError.Kind = violation.closeCode == 1009 ? .messageTooLarge : .protocolViolation
        let closure = WebSocketClosure(code: 1006, error: WebSocketError(kind, violation.message))
        return end(closure, telling: WebSocketCloseFrame(code: violation.closeCode))
    }

    mutating func lost(_ error: WebSocketError) -> Action { end(WebSocketClosure(code: 1006, error: error), telling: nil) }

    /// The peer has not answered our close frame in time.
    mutating func deadlinePassed() -> Action {
        guard phase == .closeSent else { return Action() }
        return lost(WebSocketError(.timeout, "The server did not answer the closing handshake in time"))
    }

    mutating func abandoned() -> Action {
        let closure = WebSocketClosure(code: 1006, error: WebSocketError(.closed, "The WebSocket was dropped without being closed"))
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

/// What the peer did against the protocol, and the close code it is told so with (RFC 6455, section 7.4.1).
struct WebSocketViolation: Error, Equatable {
    /// 1002 protocol error, 1007 text that is no UTF-8, 1009 message too large.
    var closeCode: UInt16
    var message: String

    static func protocolError(_ message: String) -> WebSocketViolation {
        WebSocketViolation(closeCode: 1002, message: message)
    }

    static func invalidText(_ message: String) -> WebSocketViolation {
        WebSocketViolation(closeCode: 1007, message: message)
    }

    static func tooLarge(limit: Int) -> WebSocketViolation {
        WebSocketViolation(closeCode: 1009, message: "A message is larger than the \(limit) bytes accepted")
    }
}

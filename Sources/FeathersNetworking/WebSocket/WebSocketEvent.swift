/// What a WebSocket carries.
public enum WebSocketMessage: Sendable, Hashable {
    case text(String)
    case binary([UInt8])
}

/// What a WebSocket tells its owner.
public enum WebSocketEvent: Sendable {
    case message(WebSocketMessage)
    /// Nothing comes after it.
    case closed(WebSocketClosure)
}

/// How a WebSocket ended.
public struct WebSocketClosure: Sendable {
    /// The peer's close code; 1005 where it sent none, 1006 where the connection was lost or we ended it for the peer's mistake.
    public var code: UInt16
    /// The peer's reason, in its words; often empty.
    public var reason: String
    /// What went wrong, where the connection did not end by a closing handshake.
    public var error: WebSocketError?

    /// An end; the parameters are the properties of the same names.
    public init(code: UInt16, reason: String = "", error: WebSocketError? = nil) {
        self.code = code
        self.reason = reason
        self.error = error
    }
}

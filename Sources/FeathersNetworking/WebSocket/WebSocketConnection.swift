/// An open WebSocket. Messages are whole and in order.
///
/// Messages are delivered to a closure rather than by an `await`: the closure runs where the message was read, without a task in between.
public protocol WebSocketConnection: Sendable {
    /// Begins to deliver events; called once. What arrived before is delivered first.
    ///
    /// `handler` is called by one thread at a time, in the order of arrival, and must not block. Its last call is `closed`,
    /// which comes exactly once, also after ``close(code:reason:)``. Until the peer has answered that one, messages on their way are still delivered.
    func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void)

    /// Queues a message and returns; the order of calls is the order on the wire.
    /// - Throws: ``WebSocketError`` when the connection is closing or closed, its queue is full, or writing found the connection lost; then
    ///   the message may or may not have arrived.
    func sendNow(_ message: WebSocketMessage) throws(WebSocketError)

    /// Begins the closing handshake; does nothing on a connection that is closing or closed.
    ///
    /// What was queued before is sent first. A peer that does not answer in time is disconnected.
    /// - Parameters:
    ///   - code: the close code (RFC 6455, section 7.4); one that may not be sent, such as 1005, becomes 1000.
    ///   - reason: at most 123 bytes of UTF-8; longer ones are cut at a character.
    func close(code: UInt16, reason: String)
}

/// A message of a WebSocket.
public enum WebSocketMessage: Sendable, Hashable {
    case text(String)
    case binary([UInt8])
}

/// An event of a WebSocket.
public enum WebSocketEvent: Sendable {
    case message(WebSocketMessage)
    /// Nothing comes after it.
    case closed(WebSocketClosure)
}

/// How a WebSocket ended.
public struct WebSocketClosure: Sendable {
    /// The peer's close code; 1005 where it sent none, 1006 where the connection was lost or we ended it for the peer's mistake.
    public var code: UInt16
    /// The peer's reason; often empty.
    public var reason: String
    /// What went wrong; nil where the connection ended by a closing handshake.
    public var error: WebSocketError?

    /// Creates a closure, for a connection of your own.
    public init(code: UInt16, reason: String = "", error: WebSocketError? = nil) {
        self.code = code
        self.reason = reason
        self.error = error
    }
}

/// Why a WebSocket could not be opened, or ended.
public struct WebSocketError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: Sendable, Hashable {
        /// The URL cannot be used.
        case invalidURL
        /// The name could not be resolved, or nothing accepts connections there.
        case cannotConnect
        /// The server's certificate is not trusted, or TLS failed otherwise.
        case tls
        /// The server answered the opening handshake with something else; its HTTP status, where it sent one.
        case refused(status: Int?)
        /// Opening took too long, or the peer took too long to answer the closing handshake.
        case timeout
        /// The connection was lost.
        case connectionLost
        /// The peer broke the protocol (RFC 6455).
        case protocolViolation
        /// A message was larger than accepted.
        case messageTooLarge
        /// The connection is closing or closed.
        case closed
        /// More is queued than the connection keeps.
        case queueFull
        /// This platform has no such connection.
        case unsupported
    }

    /// What went wrong.
    public var kind: Kind
    /// What happened; names the host, but no header values.
    public var message: String

    /// Creates an error, for a connector of your own.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

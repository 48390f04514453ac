/// An open WebSocket, which delivers complete messages in order.
///
/// Messages are delivered to a closure rather than with `await`. The closure runs where the message was read, without
/// an intermediate task.
public protocol WebSocketConnection: Sendable {
    /// Starts delivering events, beginning with those that have already arrived. Call it only once.
    ///
    /// `handler` is called by one thread at a time, in order of arrival, and must not block. Its last call is `closed`,
    /// which is sent exactly once, even after ``close(code:reason:)``. Until the peer responds to the close, messages
    /// in flight are still delivered.
    func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void)

    /// Queues a message and returns immediately. Messages are sent in the order of the calls.
    /// - Throws: ``WebSocketError`` if the connection is closing or closed, its queue is full, or writing failed
    ///   because the connection was lost. In the last case, the message may or may not have arrived.
    func sendNow(_ message: WebSocketMessage) throws(WebSocketError)

    /// Begins the closing handshake. A no-op if the connection is closing or closed.
    ///
    /// Queued messages are sent first. A peer that does not respond in time is disconnected.
    /// - Parameters:
    ///   - code: The close code (RFC 6455, section 7.4). A code that must not be sent, such as 1005, becomes 1000.
    ///   - reason: At most 123 bytes of UTF-8. A longer reason is truncated at a character boundary.
    func close(code: UInt16, reason: String)
}

/// A connection that is served by this module's own thread, which can pass on texts without creating strings.
package protocol LoopedConnection: WebSocketConnection {
    /// Starts delivering, as ``WebSocketConnection/start(_:)`` does.
    func start(_ handler: WebSocketHandler)
}

extension LoopedConnection {
    package func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void) {
        start(WebSocketHandler(event: handler))
    }
}

/// The closures that receive what arrives over a connection, one at a time.
package final class WebSocketHandler: Sendable {
    /// Handles an ASCII text in the memory into which it was read. Returns `false`, without having done anything, to
    /// receive it as an event.
    package typealias TextTaker = @Sendable (UnsafeBufferPointer<UInt8>) -> Bool

    let text: TextTaker
    /// Called when the messages of one read have been delivered, and before a large message is.
    let readEnded: @Sendable () -> Void
    let event: @Sendable (WebSocketEvent) -> Void

    package init(
        text: @escaping TextTaker = { _ in false }, readEnded: @escaping @Sendable () -> Void = {},
        event: @escaping @Sendable (WebSocketEvent) -> Void
    ) {
        (self.text, self.readEnded, self.event) = (text, readEnded, event)
    }
}

/// A WebSocket message.
public enum WebSocketMessage: Sendable, Hashable {
    case text(String)
    case binary([UInt8])
}

/// A WebSocket event.
public enum WebSocketEvent: Sendable {
    case message(WebSocketMessage)
    /// The connection ended. This is the last event.
    case closed(WebSocketClosure)
}

/// The reason why a WebSocket ended.
public struct WebSocketClosure: Sendable {
    /// The peer's close code, 1005 if it sent none, or 1006 if the connection was lost or ended because of an error by
    /// the peer.
    public var code: UInt16
    /// The peer's reason, which is often empty.
    public var reason: String
    /// The error, or nil if the connection ended with a closing handshake.
    public var error: WebSocketError?

    /// Creates a value, for your own connections.
    public init(code: UInt16, reason: String = "", error: WebSocketError? = nil) {
        self.code = code
        self.reason = reason
        self.error = error
    }
}

/// The reason why a WebSocket could not be opened, or why it ended.
public struct WebSocketError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Kind: Sendable, Hashable {
        /// The URL is invalid.
        case invalidURL
        /// The host name could not be resolved, or the host does not accept connections.
        case cannotConnect
        /// The server's certificate isn't trusted, or TLS failed for another reason.
        case tls
        /// The server rejected the opening handshake, with its HTTP status if it sent one.
        case refused(status: Int?)
        /// Opening the connection took too long, or the peer took too long to respond to the closing handshake.
        case timeout
        /// The connection was lost.
        case connectionLost
        /// The peer violated the protocol (RFC 6455).
        case protocolViolation
        /// A message exceeded the maximum size.
        case messageTooLarge
        /// The connection is closing or closed.
        case closed
        /// The connection's send queue is full.
        case queueFull
        /// This platform does not support the connection.
        case unsupported
    }

    /// The kind of error.
    public var kind: Kind
    /// A message for people to read. It names the host, but no header values.
    public var message: String

    /// Creates an error, for your own connectors.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

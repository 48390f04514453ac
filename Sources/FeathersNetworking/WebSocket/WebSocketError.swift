/// Why a WebSocket could not be opened or did not last.
public struct WebSocketError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: Sendable, Hashable {
        /// The URL can not be used.
        case invalidURL
        /// The name could not be resolved, or nobody listens.
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
    /// What happened, naming the host and no header's value.
    public var message: String

    /// An error of a connector of your own.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

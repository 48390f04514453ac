public import Foundation

/// An open WebSocket: one peer, messages whole and in order.
///
/// Received messages come by a call rather than by an `await`: whoever waits for one is resumed right where it was read, without a task in
/// between.
public protocol WebSocketConnection: Sendable {
    /// Begins to deliver; called once. Whatever arrived before is delivered first.
    ///
    /// `handler` is called by one thread at a time, in the order of arrival, and must not block. Its last call is `closed`,
    /// which comes exactly once, also after ``close(code:reason:)``.
    func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void)

    /// Puts a message into the queue and returns; the order of calls is the order on the wire.
    /// - Throws: ``WebSocketError`` when the connection is closing or closed, or its queue is full.
    func sendNow(_ message: WebSocketMessage) throws(WebSocketError)

    /// Puts a message into the queue once there is room for it.
    /// - Throws: ``WebSocketError`` when the connection closes, `CancellationError` when the task is cancelled before the
    ///   message was queued.
    func send(_ message: WebSocketMessage) async throws

    /// Begins the closing handshake; does nothing on a connection that is closing or closed.
    /// - Parameters:
    ///   - code: the close code (RFC 6455, section 7.4).
    ///   - reason: at most 123 bytes of UTF-8; longer ones are cut at a character.
    func close(code: UInt16, reason: String)
}

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
    /// The peer's close code; 1005 where it sent none, 1006 where the connection was lost.
    public var code: UInt16
    public var reason: String
    /// What went wrong, where the connection did not end by a closing handshake.
    public var error: WebSocketError?

    public init(code: UInt16, reason: String = "", error: WebSocketError? = nil) {
        self.code = code
        self.reason = reason
        self.error = error
    }
}

/// Opens WebSockets.
public protocol WebSocketConnector: Sendable {
    /// Opens a connection: name resolution, TCP, TLS, the opening handshake.
    /// - Throws: ``WebSocketError`` naming what failed; `CancellationError` when the task is cancelled, at once.
    func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection
}

/// Where a WebSocket leads and how it may behave.
public struct WebSocketRequest: Sendable {
    /// A `ws` or `wss` URL; `http` and `https` mean the same.
    public var url: URL
    /// Additional header fields of the opening handshake.
    public var headers: HTTPHeaders
    /// How long opening may take.
    public var timeout: Duration
    /// The largest message accepted, in bytes; a larger one closes the connection with 1009.
    public var maximumMessageSize: Int

    public init(url: URL, headers: HTTPHeaders = HTTPHeaders(), timeout: Duration = .seconds(20), maximumMessageSize: Int = 64 << 20) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        self.maximumMessageSize = maximumMessageSize
    }
}

/// Why a WebSocket could not be opened or did not last.
public struct WebSocketError: Error, Sendable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The URL can not be used.
        case invalidURL
        /// The name could not be resolved, or nobody listens.
        case cannotConnect
        /// The server's certificate is not trusted, or TLS failed otherwise.
        case tls
        /// The server answered the opening handshake with something else; its HTTP status, where it sent one.
        case refused(status: Int?)
        /// Opening took too long.
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

    public var kind: Kind
    /// What happened, naming the host and no header's value.
    public var message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

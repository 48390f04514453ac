public import Foundation

/// Opens WebSockets.
public protocol WebSocketConnector: Sendable {
    /// Opens a connection: name resolution, TCP, TLS, the opening handshake.
    /// - Throws: ``WebSocketError`` naming what failed; `CancellationError` when the task is cancelled, at once.
    func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection
}

/// The address of a WebSocket, and its limits.
public struct WebSocketRequest: Sendable {
    /// A `ws` or `wss` URL; `http` and `https` mean the same.
    public var url: URL
    /// Additional header fields of the opening handshake.
    public var headers: HTTPHeaders
    /// How long opening may take, from name resolution to the answer to the opening handshake.
    public var timeout: Duration
    /// The largest message accepted, in bytes; a larger one closes the connection with 1009.
    public var maximumMessageSize: Int

    /// Creates a request; only the URL has no default.
    public init(
        url: URL, headers: HTTPHeaders = HTTPHeaders(), timeout: Duration = .seconds(20),
        maximumMessageSize: Int = HTTPRequest.defaultMaximumResponseBytes
    ) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        self.maximumMessageSize = maximumMessageSize
    }
}

/// The WebSocket connector for this platform.
public enum PlatformWebSocketConnector {
    /// A new connector: ``CurlWebSocketConnector`` on Linux, else ``URLSessionWebSocketConnector``.
    ///
    /// Where the process on Linux has no libcurl, or one before 7.68, connecting throws ``WebSocketError/Kind/unsupported``.
    public static func make() -> any WebSocketConnector {
        #if os(Linux)
            CurlWebSocketConnector()
        #else
            URLSessionWebSocketConnector()
        #endif
    }
}

public import Foundation

/// A type that opens WebSockets.
public protocol WebSocketConnector: Sendable {
    /// Opens a connection: name resolution, TCP, TLS, and the opening handshake.
    /// - Throws: ``WebSocketError``, which names what failed, or `CancellationError` as soon as the task is cancelled.
    func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection
}

/// A WebSocket's address and limits.
public struct WebSocketRequest: Sendable {
    /// A `ws` or `wss` URL. The schemes `http` and `https` are equivalent.
    public var url: URL
    /// Additional header fields for the opening handshake.
    public var headers: HTTPHeaders
    /// The time limit for opening the connection, from name resolution to the response to the opening handshake.
    public var timeout: Duration
    /// The maximum size of a message, in bytes. A larger message closes the connection with 1009.
    public var maximumMessageSize: Int

    /// Creates a request. Only the URL is required.
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
    /// Creates a connector: ``CurlWebSocketConnector`` on Linux and Android, otherwise
    /// ``URLSessionWebSocketConnector``.
    ///
    /// If the process on Linux has no libcurl, or a version earlier than 7.68, connecting throws
    /// ``WebSocketError/Kind/unsupported``. On Android, Foundation's own WebSockets are used then.
    public static func make() -> any WebSocketConnector {
        #if canImport(Android)
            // Foundation may be built so that its libcurl cannot be used by others.
            if case .failure = Libcurl.version { return URLSessionWebSocketConnector() }
            return CurlWebSocketConnector()
        #elseif canImport(FoundationNetworking)
            CurlWebSocketConnector()
        #else
            URLSessionWebSocketConnector()
        #endif
    }
}

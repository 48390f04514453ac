/// The WebSocket connector that suits the platform best.
public enum PlatformWebSocketConnector {
    /// A new connector: ``CurlWebSocketConnector`` on Linux, else ``URLSessionWebSocketConnector``.
    ///
    /// Where the process on Linux holds no libcurl, or one before 7.68, connecting throws ``WebSocketError/Kind/unsupported``: time to go
    /// on without WebSocket.
    public static func make() -> any WebSocketConnector {
        #if os(Linux)
            CurlWebSocketConnector()
        #else
            URLSessionWebSocketConnector()
        #endif
    }
}

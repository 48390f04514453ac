#if os(Linux)
    /// A WebSocket over a connection that libcurl made. Dropped without having been closed, it says 1001 and closes.
    final class CurlWebSocketConnection: WebSocketConnection {
        private let link: WebSocketLink

        /// - Parameters:
        ///   - stream: past the opening handshake.
        ///   - early: what arrived together with the answer to it.
        init(
            _ stream: any ByteStream, early: [UInt8], on loop: SocketLoop, host: String, maximumMessageSize: Int,
            configuration: CurlWebSocketConnector.Configuration
        ) {
            link = WebSocketLink(stream, on: loop, host: host, configuration: configuration)
            link.attach(stream, early: early, maximumMessageSize: maximumMessageSize)
        }

        deinit {
            link.abandon()
        }

        func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void) {
            link.start(handler)
        }

        func sendNow(_ message: WebSocketMessage) throws(WebSocketError) {
            try link.sendNow(message)
        }

        func send(_ message: WebSocketMessage) async throws {
            try await link.send(message)
        }

        func close(code: UInt16, reason: String) {
            link.close(WebSocketCloseFrame(code: code, reason: reason))
        }
    }
#endif

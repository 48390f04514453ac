#if os(Linux)
    import Foundation

    /// Opens WebSockets on Linux: connected by the libcurl that Foundation itself uses, framed here (RFC 6455).
    ///
    /// One thread serves all connections of the process; each opening takes another thread while it lasts.
    public struct CurlWebSocketConnector: WebSocketConnector {
        let tls: TLSConfiguration
        let proxy: NetworkProxy
        /// How long the server may take to answer a close frame before the connection is cut.
        var closingTimeout = Duration.seconds(5)

        /// A connector; each connection it opens is its own.
        /// - Parameters:
        ///   - tls: how secure connections are made.
        ///   - proxy: which proxy connections go through.
        public init(tls: TLSConfiguration = TLSConfiguration(), proxy: NetworkProxy = .environment) {
            self.tls = tls
            self.proxy = proxy
        }

        /// Opens a connection: name resolution, proxy, TCP, TLS, the opening handshake (RFC 6455, section 4).
        ///
        /// Redirects are not followed. `Host` and `Sec-WebSocket-Protocol` may be among the request's headers; the handshake's other fields are its own.
        /// - Throws: ``WebSocketError``, of kind ``WebSocketError/Kind/unsupported`` where this process has no libcurl or one before
        ///   7.68; `CancellationError` when the task is cancelled, at once.
        public func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
            try Task.checkCancellation()
            if case .failure(let reason) = Libcurl.version { throw WebSocketError(.unsupported, reason.message) }
            let target = try WebSocketTarget(request.url)
            let loop = try SocketLoop.shared()
            let deadline = ContinuousClock.now.advanced(by: request.timeout.clamped)
            let dial = WebSocketDial()
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    dial.start(continuation) { dial throws(WebSocketError) in
                        guard let stream = CurlByteStream() else { throw .noMemory }
                        let dialer = CurlDialer(dial: dial, target: target, deadline: deadline, connector: self, stream: stream)
                        let early = try dial.waking(stream.multi) { () throws(WebSocketError) in
                            do throws(WebSocketError) {
                                try dialer.connect()
                                return try dialer.openWebSocket(target.openingRequest(request.headers))
                            } catch {
                                // Told at once: what follows here, waiting for a resolver to give up for one, may take libcurl seconds.
                                dial.finish(.failure(error))
                                throw error
                            }
                        }
                        return CurlWebSocketConnection(
                            target.isSecure || proxy.mayApply ? stream : try Self.plain(stream), early: early, on: loop,
                            host: target.host, maximumMessageSize: request.maximumMessageSize, closingTimeout: closingTimeout)
                    }
                }
            } onCancel: {
                dial.cancel()
            }
            return try dial.result()
        }

        private static func plain(_ stream: CurlByteStream) throws(WebSocketError) -> any ByteStream {
            guard let stream = SocketByteStream(duplicating: stream.descriptor) else {
                throw WebSocketError(.cannotConnect, "The system grants no more descriptors")
            }
            return stream
        }
    }

    extension NetworkProxy {
        /// Whether there may be something between the socket and the server, such as TLS with the proxy.
        fileprivate var mayApply: Bool {
            switch self {
            case .none: return false
            case .url: return true
            case .environment:
                let names: Set = ["http_proxy", "https_proxy", "all_proxy"]
                return ProcessInfo.processInfo.environment.contains { names.contains($0.key.lowercased()) && !$0.value.isEmpty }
            }
        }
    }
#endif

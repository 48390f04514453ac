#if canImport(FoundationNetworking)
    import FeathersSupport
    import Foundation

    /// Opens WebSockets on Linux. Connections are made by the libcurl that Foundation itself uses; framing is done in
    /// Swift (RFC 6455).
    ///
    /// One thread serves all connections of the process. Each opening uses an additional thread while it lasts.
    public struct CurlWebSocketConnector: WebSocketConnector {
        let tls: TLSConfiguration
        let proxy: NetworkProxy
        /// How long the server may take to respond to a close frame before the connection is cut.
        var closingTimeout = Duration.seconds(5)

        /// Creates a connector. Connections are never shared.
        /// - Parameters:
        ///   - tls: How secure connections are made.
        ///   - proxy: The proxy that connections use.
        public init(tls: TLSConfiguration = TLSConfiguration(), proxy: NetworkProxy = .environment) {
            self.tls = tls
            self.proxy = proxy
        }

        /// Opens a connection: name resolution, proxy, TCP, TLS, and the opening handshake (RFC 6455, section 4).
        ///
        /// Redirects are not followed. The headers may include `Host` and `Sec-WebSocket-Protocol`; the handshake sets
        /// its other fields itself.
        /// - Throws: ``WebSocketError``, of kind ``WebSocketError/Kind/unsupported`` if this process has no libcurl or
        ///   a version earlier than 7.68; `CancellationError` as soon as the task is cancelled.
        public func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
            try Task.checkCancellation()
            if case .failure(let reason) = Libcurl.version { throw WebSocketError(.unsupported, reason.message) }
            let target = try WebSocketTarget(request.url)
            let loop = try SocketLoop.shared()
            let deadline = ContinuousClock.now.advanced(by: request.timeout.clamped)
            let dial = WebSocketDial()
            return try await withTaskCancellationHandler {
                // If the task is already cancelled, the wait can end before the cancellation handler is called. The
                // handler then never runs.
                defer { dial.fail(CancellationError()) }
                dial.start { dial throws(WebSocketError) in
                    guard let stream = CurlByteStream() else { throw .noMemory }
                    let dialer = CurlDialer(
                        dial: dial, target: target, deadline: deadline, connector: self, stream: stream)
                    let early = try dial.waking(stream.multi) { () throws(WebSocketError) in
                        do throws(WebSocketError) {
                            try dialer.connect()
                            return try dialer.openWebSocket(target.openingRequest(request.headers))
                        } catch {
                            // Reported immediately: the cleanup that follows may take libcurl seconds, such as waiting
                            // for a resolver.
                            dial.fail(error)
                            throw error
                        }
                    }
                    return CurlWebSocketConnection(
                        target.isSecure || proxy.mayApply ? stream : try Self.plain(stream), early: early, on: loop,
                        host: target.host, maximumMessageSize: request.maximumMessageSize,
                        closingTimeout: closingTimeout)
                }
                return try await dial.connection.value()
            } onCancel: {
                dial.fail(CancellationError())
            }
        }

        private static func plain(_ stream: CurlByteStream) throws(WebSocketError) -> any ByteStream {
            guard let stream = SocketByteStream(duplicating: stream.descriptor) else {
                throw WebSocketError(.cannotConnect, "The system has no more file descriptors available")
            }
            return stream
        }
    }

    extension NetworkProxy {
        /// Whether a proxy may be in use. A proxy can put its own layer, such as TLS, between the socket and the
        /// server.
        fileprivate var mayApply: Bool {
            switch self {
            case .none: return false
            case .url: return true
            case .environment:
                let names: Set = ["http_proxy", "https_proxy", "all_proxy"]
                return ProcessInfo.processInfo.environment.contains {
                    names.contains($0.key.lowercased()) && !$0.value.isEmpty
                }
            }
        }
    }
#endif

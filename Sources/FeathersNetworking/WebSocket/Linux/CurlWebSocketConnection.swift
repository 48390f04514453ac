#if canImport(FoundationNetworking)
    import FeathersSupport

    /// A WebSocket over a connection that libcurl made. If released without being closed, it closes with 1001.
    final class CurlWebSocketConnection: LoopedConnection {
        private let link: WebSocketLink

        /// Creates a connection. `early` holds the bytes that arrived together with the response to the opening
        /// handshake.
        init(
            _ stream: any ByteStream, early: [UInt8], on loop: SocketLoop, host: String, maximumMessageSize: Int,
            closingTimeout: Duration
        ) {
            link = WebSocketLink(stream, on: loop, host: host, closingTimeout: closingTimeout)
            link.attach(stream, early: early, maximumMessageSize: maximumMessageSize)
        }

        deinit { link.abandon() }

        func start(_ handler: WebSocketHandler) { link.start(handler) }
        func sendNow(_ message: WebSocketMessage) throws(WebSocketError) { try link.send(message) }
        func close(code: UInt16, reason: String) { link.close(WebSocketCloseFrame(code: code, reason: reason)) }
    }

    /// A connection as shared by all threads. It sends from any thread, and wakes the loop's thread, which receives.
    final class WebSocketLink: Sendable {
        private let loop: SocketLoop
        let token: SocketLoop.Token
        let host: String
        let closingTimeout: Duration
        let outbound: Locked<WebSocketOutbound>

        init(_ stream: any ByteStream, on loop: SocketLoop, host: String, closingTimeout: Duration) {
            self.loop = loop
            self.host = host
            token = loop.newToken()
            self.closingTimeout = closingTimeout
            outbound = Locked(WebSocketOutbound(stream))
        }

        /// Passes the socket to the loop.
        func attach(_ stream: any ByteStream, early: [UInt8], maximumMessageSize: Int) {
            loop.send(
                .attach(token) {
                    WebSocketPump(self, stream: stream, early: early, maximumMessageSize: maximumMessageSize)
                })
        }

        func start(_ handler: WebSocketHandler) {
            let closure = outbound.withLock { outbound in
                outbound.handler = handler
                return outbound.closure
            }
            if let closure {
                // The connection ended before it started, so the loop no longer reports its end.
                loop.send(.call { handler.event(.closed(closure)) })
            } else {
                wake()
            }
        }

        /// Sends a message, with others if the loop is awake.
        func send(_ message: WebSocketMessage) throws(WebSocketError) {
            let gathers = loop.noteSending()
            let progress: WebSocketOutbound.Progress = outbound.withLock { outbound in
                if let obstacle = outbound.obstacle { return .failed(obstacle) }
                guard outbound.hasRoom(for: message) else {
                    return .failed(WebSocketError(.queueFull, "The connection's send queue is full"))
                }
                return gathers ? outbound.gather(message) : outbound.send(message)
            }
            switch progress {
            case .settled: return
            case .unfinished: wake()
            case .failed(let error):
                if error.kind == .connectionLost { wake() }
                throw error
            }
        }

        func close(_ frame: WebSocketCloseFrame) {
            let isFirst = outbound.withLock { outbound in
                guard outbound.closure == nil, let frame = outbound.closing.closeRequested(frame).send else {
                    return false
                }
                _ = outbound.send(.close, frame.payload)
                return true
            }
            // The loop sets the deadline and writes the remaining bytes.
            if isFirst { wake() }
        }

        /// Delivers the pending large message, unless the connection has ended in the meantime, and lets the loop
        /// continue. Called on the pump's queue.
        func deliver(to handler: WebSocketHandler) {
            var violation: WebSocketViolation?
            do throws(WebSocketViolation) {
                if let message = try takeLargeMessage() { handler.event(.message(message)) }
            } catch {
                violation = error
            }
            outbound.withLock { outbound in outbound.delivery = .ended(violation) }
            wake()
        }

        private func takeLargeMessage() throws(WebSocketViolation) -> WebSocketMessage? {
            let waiting: (bytes: [UInt8], isText: Bool)? = outbound.withLock { outbound in
                guard outbound.closure == nil, case .waiting(let bytes, let isText)? = outbound.delivery else {
                    return nil
                }
                // Releases the bytes of a text as soon as the string has been created.
                outbound.delivery = nil
                return (bytes, isText)
            }
            guard let (bytes, isText) = waiting else { return nil }
            guard isText else { return .binary(bytes) }
            return try bytes.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in
                try WebSocketMessage(text: UnsafeRawBufferPointer(bytes))
            }
        }

        func abandon() {
            let isOver = outbound.withLock { outbound in
                outbound.isAbandoned = true
                return outbound.closure != nil
            }
            if !isOver { wake() }
        }

        private func wake() { loop.send(.wake(token)) }
    }
#endif

#if canImport(FoundationNetworking)
    import CCurl
    import FeathersSupport
    import Foundation

    /// One attempt to open a connection, which starts once, ends once, and can be cancelled at any time. It runs on its
    /// own thread, because connecting with libcurl can block. The waiting task is resumed immediately, even while that
    /// thread is still cleaning up.
    final class WebSocketDial: Sendable {
        let connection = Promise<CurlWebSocketConnection>()
        private let wakeable = Locked<WakeableMulti?>(nil)

        /// Starts the thread. `dial` returns a connection or throws.
        func start(_ dial: @escaping @Sendable (WebSocketDial) throws(WebSocketError) -> CurlWebSocketConnection) {
            if isOver { return }
            let isRunning = NetworkThread.start("feathers-dial") {
                do throws(WebSocketError) {
                    // A connection that arrives too late is released, which closes it.
                    self.connection.resolve(try dial(self))
                } catch {
                    self.fail(error)
                }
            }
            if !isRunning { fail(WebSocketError(.cannotConnect, "The system could not start another thread")) }
        }

        /// Whether the attempt has ended, so its connection is no longer needed.
        var isOver: Bool { connection.isSettled }

        /// Ends the attempt, unless it has already ended.
        func fail(_ error: any Error) {
            connection.fail(error)
            wakeable.withLock { wakeable in if let wakeable { curl_multi_wakeup(wakeable.multi) } }
        }

        /// Allows the end of the attempt to wake this handle while `body` runs.
        func waking<Result, Failure: Error>(
            _ multi: UnsafeMutableRawPointer, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            wakeable.withLock { $0 = WakeableMulti(multi: multi) }
            defer { wakeable.withLock { $0 = nil } }
            return try body()
        }
    }

    /// Opens a connection step by step on the thread of its ``WebSocketDial``. libcurl handles name resolution, proxy,
    /// TCP, and TLS, followed by the opening handshake.
    struct CurlDialer {
        let dial: WebSocketDial
        let target: WebSocketTarget
        let deadline: ContinuousClock.Instant
        let connector: CurlWebSocketConnector
        let stream: CurlByteStream

        func connect() throws(WebSocketError) {
            let details = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
            details.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            configure(details)
            defer {
                ccurl_set_pointer(stream.easy, CURLOPT_ERRORBUFFER, nil)
                details.deallocate()
            }
            guard curl_multi_add_handle(stream.multi, stream.easy) == CURLM_OK else { throw .noMemory }
            var running: Int32 = 0
            var left: Int32 = 0
            while true {
                guard curl_multi_perform(stream.multi, &running) == CURLM_OK else { throw .noMemory }
                if let message = curl_multi_info_read(stream.multi, &left)?.pointee {
                    let code = message.data.result
                    guard code == CURLE_OK else {
                        throw WebSocketError(curl: code, detail: String(cString: details), target)
                    }
                    break
                }
                try wait()
            }
            guard stream.connected() else {
                throw WebSocketError(.cannotConnect, "libcurl provided no connection to \(target.host)")
            }
        }

        /// Performs the opening handshake.
        /// - Returns: The bytes that arrived together with the response.
        func openWebSocket(_ request: WebSocketOpeningRequest) throws(WebSocketError) -> [UInt8] {
            try send(request.bytes)
            var response = WebSocketOpeningResponse(to: request)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
            defer { buffer.deallocate() }
            while true {
                switch stream.read(into: buffer) {
                case .bytes(let count):
                    var bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    if try response.received(&bytes) { return Array(bytes) }
                case .wouldBlock: try wait(for: CURL_WAIT_POLLIN)
                case .ended:
                    throw WebSocketError(
                        .connectionLost, "\(target.host) ended the connection instead of opening a WebSocket")
                case .failed(let reason):
                    throw WebSocketError(.connectionLost, "The connection to \(target.host) was lost: \(reason)")
                }
            }
        }

        private func send(_ bytes: [UInt8]) throws(WebSocketError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                switch rest.withUnsafeBytes({ stream.write($0) }) {
                case .bytes(let count): rest = rest.dropFirst(count)
                case .wouldBlock: try wait(for: CURL_WAIT_POLLOUT)
                case .ended, .failed: throw WebSocketError(.connectionLost, "The connection to \(target.host) was lost")
                }
            }
        }

        private func configure(_ details: UnsafeMutablePointer<CChar>) {
            let easy = stream.easy
            ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, details)
            ccurl_set_string(easy, CURLOPT_URL, target.curlURL)
            ccurl_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
            ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
            ccurl_set_long(easy, CURLOPT_TCP_NODELAY, 1)
            // A child process that inherits the socket would keep the connection open after it is closed.
            ccurl_set_sockopt_function(easy) { _, socket, _ in fcntl(socket, F_SETFD, FD_CLOEXEC) }
            // Otherwise, TLS might negotiate HTTP/2, which this handshake does not support.
            ccurl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            // Even without TLS, a proxy must pass the connection through unchanged.
            ccurl_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
            // The deadline is enforced here, so libcurl's own timer must fire later.
            ccurl_set_long(
                easy, CURLOPT_CONNECTTIMEOUT_MS, Int(ContinuousClock.now.duration(to: deadline).milliseconds) + 60_000)
            connector.tls.apply(to: easy)
            connector.proxy.apply(to: easy)
        }

        /// Waits for libcurl's own sockets, the stream's socket, the deadline, or the end of the attempt.
        private func wait(for events: Int16? = nil) throws(WebSocketError) {
            guard !dial.isOver else { throw WebSocketError(.closed, "The connection attempt has ended") }
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero else {
                throw WebSocketError(.timeout, "The WebSocket to \(target.host) did not open in time")
            }
            var extra = curl_waitfd(fd: stream.descriptor, events: events ?? 0, revents: 0)
            guard curl_multi_poll(stream.multi, &extra, events == nil ? 0 : 1, remaining.milliseconds, nil) == CURLM_OK
            else {
                throw .noMemory
            }
        }
    }

    extension WebSocketError {
        static var noMemory: WebSocketError { WebSocketError(.cannotConnect, "libcurl is out of memory") }

        /// Translates libcurl's report of a failed connection.
        fileprivate init(curl code: CURLcode, detail: String, _ target: WebSocketTarget) {
            let error = HTTPClientError(curl: code, detail: detail, isSent: false, host: target.host)
            switch error.kind {
            case .invalidURL: self.init(.invalidURL, "\(error.message) (\(target.host))")
            case .tls: self.init(.tls, "\(error.message) (\(target.host))")
            case .timeout: self.init(.timeout, "The WebSocket to \(target.host) did not open in time")
            case .hostNotFound, .cannotConnect: self.init(.cannotConnect, "\(error.message) (\(target.host))")
            default:
                // This phase only connects, so any other failure, such as a proxy's refusal, is also a failure to
                // connect.
                let reason = detail.isEmpty ? Libcurl.words(for: code) : detail
                self.init(.cannotConnect, "Could not connect to the server: \(reason) (\(target.host))")
            }
        }
    }
#endif

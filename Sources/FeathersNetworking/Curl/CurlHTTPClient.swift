#if canImport(FoundationNetworking)
    import FeathersSupport

    /// An HTTP client built on the libcurl that Foundation itself uses. It is several times as fast as `URLSession` on
    /// Linux.
    ///
    /// All callers share a pool of connections, which use HTTP/1.1 or HTTP/2 as negotiated by TLS. Cookies are neither
    /// stored nor sent. A single thread, started with the first request, drives all connections and streams files. It
    /// ends with the client or with ``close()``.
    ///
    /// If a pooled connection turns out to be dead, libcurl repeats the request, but only if it is idempotent (RFC
    /// 9110, section 9.2.2).
    public final class CurlHTTPClient: StreamingHTTPClient {
        let driver: CurlDriver

        /// Creates a client with its own connections.
        /// - Parameters:
        ///   - tls: How secure connections are made.
        ///   - proxy: The proxy that connections use.
        ///   - connectTimeout: The time limit for connecting, including name resolution and TLS. The request's own
        ///     timeout still applies.
        ///   - maximumConnectionsPerHost: The maximum number of open connections. Further requests wait for a free one.
        /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/other`` if this process has no libcurl, or a
        ///   version earlier than 7.68.
        public init(
            tls: TLSConfiguration = TLSConfiguration(), proxy: NetworkProxy = .environment,
            connectTimeout: Duration = .seconds(60),
            maximumConnectionsPerHost: Int = 128
        ) throws(HTTPClientError) {
            if case .failure(let error) = Libcurl.version { throw error }
            driver = CurlDriver(
                CurlSettings(
                    tls: tls, proxy: proxy, connectTimeout: connectTimeout,
                    maximumConnectionsPerHost: maximumConnectionsPerHost))
        }

        deinit { driver.close() }

        /// Closes the client. Exchanges in flight and all later ones fail with ``HTTPClientError/Kind/closed``.
        public func close() { driver.close() }

        public func cancelAll() { driver.cancelAll() }

        public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let generation = driver.generation
            return try await HTTPRedirect.following(request) { try await exchange($0, deadline: $1, nil, generation) }
        }

        public func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
            let generation = driver.generation
            return try await transfer.following { try await exchange($0, deadline: $2, $1, generation) }
        }

        private func exchange(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant?, _ streams: HTTPStreams?, _ generation: Int
        ) async throws -> HTTPResponse {
            try Task.checkCancellation()
            try request.checkSendable()
            // Only an exchange with streaming bodies pauses.
            var resuming: (@Sendable (CurlExchange) -> Void)?
            if streams != nil { resuming = { [weak driver] exchange in driver?.resume(exchange) } }
            let exchange = CurlExchange(
                request, deadline: deadline, streams: streams, generation: generation, resuming: resuming)
            return try await withTaskCancellationHandler {
                // If the task is already cancelled, the wait can end before the cancellation handler is called. The
                // handler then never runs.
                defer { end(exchange) }
                driver.start(exchange)
                return try await exchange.response.value()
            } onCancel: {
                end(exchange)
            }
        }

        /// Ends an exchange whose caller no longer waits, unless it has ended.
        private func end(_ exchange: CurlExchange) {
            if exchange.response.fail(CancellationError()) { driver.abandon(exchange) }
        }
    }

    /// A request in flight. The response, the deadline, cancellation, and closing the client race to end it.
    final class CurlExchange: Sendable {
        let request: HTTPRequest
        let deadline: ContinuousClock.Instant?
        /// The streamed bodies and the progress handler, or nil if bodies are in memory.
        let streams: HTTPStreams?
        /// The driver's ``CurlDriver/generation`` when the caller's request began.
        let generation: Int
        let response = Promise<HTTPResponse>()
        private let resuming: (@Sendable (CurlExchange) -> Void)?

        init(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant?, streams: HTTPStreams?, generation: Int,
            resuming: (@Sendable (CurlExchange) -> Void)? = nil
        ) {
            (self.request, self.deadline, self.streams) = (request, deadline, streams)
            (self.generation, self.resuming) = (generation, resuming)
        }

        var host: String? { request.url.hostAndPort }

        /// Continues after a pause.
        func resume() { resuming?(self) }

        func finish(_ result: Result<HTTPResponse, HTTPClientError>) {
            switch result {
            case .success(let response): self.response.resolve(response)
            case .failure(let error): response.fail(error)
            }
        }
    }
#endif

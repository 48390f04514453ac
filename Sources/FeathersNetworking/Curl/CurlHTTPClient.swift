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
        ///   - maximumConnectionsPerHost: The maximum number of open connections to a host, and of requests in progress,
        ///     at least 1. Further requests wait in order. Their timeouts include the wait.
        ///   - maximumWaitingRequestsPerHost: The maximum number of requests that wait. Further requests fail with
        ///     ``HTTPClientError/Kind/overloaded`` and are never sent.
        ///   - idleTimeout: How long a connection may be idle before it is no longer used, in whole seconds. If the
        ///     server announces its own limit (`Keep-Alive: timeout=5`), a second less than that applies if it is
        ///     shorter. With less than a second, requests that must not be repeated use new connections.
        ///   - maximumConnectionAge: How long a connection is used for new requests, in whole seconds, so that a server
        ///     that is added behind a load balancer gets its share; nil for no limit. It requires libcurl 7.80.
        /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/other`` if this process has no libcurl, or a
        ///   version earlier than 7.68.
        public init(
            tls: TLSConfiguration = TLSConfiguration(), proxy: NetworkProxy = .environment,
            connectTimeout: Duration = .seconds(60),
            maximumConnectionsPerHost: Int = 128, maximumWaitingRequestsPerHost: Int = 20_000,
            idleTimeout: Duration = .seconds(30), maximumConnectionAge: Duration? = .seconds(120)
        ) throws(HTTPClientError) {
            if case .failure(let error) = Libcurl.version { throw error }
            driver = CurlDriver(
                CurlSettings(
                    tls: tls, proxy: proxy, connectTimeout: connectTimeout,
                    maximumConnectionsPerHost: max(maximumConnectionsPerHost, 1),
                    maximumWaitingRequestsPerHost: max(maximumWaitingRequestsPerHost, 0), idleTimeout: idleTimeout,
                    maximumConnectionAge: maximumConnectionAge))
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
        /// The host and port of the URL.
        let host: String
        let response = Promise<HTTPResponse>()
        private let resuming: (@Sendable (CurlExchange) -> Void)?

        init(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant?, streams: HTTPStreams?, generation: Int,
            resuming: (@Sendable (CurlExchange) -> Void)? = nil
        ) {
            (self.request, self.deadline, self.streams) = (request, deadline, streams)
            (self.generation, self.resuming, host) = (generation, resuming, request.url.hostAndPort ?? "")
        }

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

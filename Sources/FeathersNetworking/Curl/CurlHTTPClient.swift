#if canImport(FoundationNetworking)
    import FeathersSupport

    /// An HTTP client built on the libcurl that Foundation itself uses. It is several times as fast as `URLSession` on
    /// Linux.
    ///
    /// All callers share a pool of connections, which use HTTP/1.1 or HTTP/2 as negotiated by TLS. Cookies are neither
    /// stored nor sent. A single thread, started with the first request, drives all connections and streams files. It
    /// ends with the client or with ``close()``. Clients of ``PlatformHTTPClient/make()`` share connections and thread.
    ///
    /// If a pooled connection turns out to be dead, libcurl repeats the request, but only if it is idempotent (RFC
    /// 9110, section 9.2.2).
    public final class CurlHTTPClient: StreamingHTTPClient, RequestQueueing {
        private struct State: Sendable {
            var round = CurlRound()
            /// Nil once the client is closed.
            var use: CurlDriverUse?
        }

        let driver: CurlDriver
        private let state: Locked<State>

        /// Creates a client with its own connections.
        /// - Parameters:
        ///   - tls: How secure connections are made.
        ///   - proxy: The proxy that connections use.
        ///   - connectTimeout: The time limit for connecting, including name resolution and TLS. The request's own
        ///     timeout still applies.
        ///   - maximumConnectionsPerHost: The maximum number of requests to a host in progress, and of connections kept
        ///     open, at least 1. Further requests wait in order. Their timeouts include the wait. Event streams don't
        ///     count: each has a connection of its own.
        ///   - maximumWaitingRequestsPerHost: The maximum number of requests that wait. Further requests fail with
        ///     ``HTTPClientError/Kind/overloaded`` and are never sent.
        ///   - idleTimeout: How long a connection may be idle before it is no longer used, in whole seconds. If the
        ///     server announces its own limit (`Keep-Alive: timeout=5`), a second less than that applies if it is
        ///     shorter. With less than a second, requests that must not be repeated use new connections.
        ///   - maximumConnectionAge: How long a connection is used for new requests, in whole seconds, so that a server
        ///     that is added behind a load balancer gets its share; nil for no limit. It requires libcurl 7.80.
        /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/other`` if this process has no libcurl, or a
        ///   version earlier than 7.68.
        public convenience init(
            tls: TLSConfiguration = TLSConfiguration(), proxy: NetworkProxy = .environment,
            connectTimeout: Duration = .seconds(60),
            maximumConnectionsPerHost: Int = 128, maximumWaitingRequestsPerHost: Int = 20_000,
            idleTimeout: Duration = .seconds(30), maximumConnectionAge: Duration? = .seconds(120)
        ) throws(HTTPClientError) {
            try self.init(
                CurlDriverUse(
                    CurlSettings(
                        tls: tls, proxy: proxy, connectTimeout: connectTimeout,
                        maximumConnectionsPerHost: max(maximumConnectionsPerHost, 1),
                        maximumWaitingRequestsPerHost: max(maximumWaitingRequestsPerHost, 0), idleTimeout: idleTimeout,
                        maximumConnectionAge: maximumConnectionAge)))
        }

        /// Creates a client over a driver that others may use, too.
        init(_ use: CurlDriverUse) throws(HTTPClientError) {
            if case .failure(let error) = Libcurl.version { throw error }
            (driver, state) = (use.driver, Locked(State(use: use)))
        }

        /// Closes the client. Exchanges in flight and all later ones fail with ``HTTPClientError/Kind/closed``.
        public func close() {
            let use = state.withLock { $0.use.take() }
            driver.end(round, with: HTTPClientError.clientClosed)
            withExtendedLifetime(use) {}
        }

        public func cancelAll() {
            let ended = state.withLock { state in
                defer { if state.use != nil { state.round = CurlRound() } }
                return state.round
            }
            driver.end(ended, with: HTTPClientError.allCancelled)
        }

        package var waitingRequests: Int { driver.waitingCount }

        /// The requests that the next ``cancelAll()`` ends.
        var round: CurlRound { state.withLock { $0.round } }

        public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let round = round
            return try await HTTPRedirect.following(request) { try await exchange($0, deadline: $1, nil, round) }
        }

        public func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
            let round = round
            return try await transfer.following { try await exchange($0, deadline: $2, $1, round) }
        }

        private func exchange(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant?, _ streams: HTTPStreams?, _ round: CurlRound
        ) async throws -> HTTPResponse {
            try Task.checkCancellation()
            try request.checkSendable()
            // Only an exchange with streaming bodies pauses.
            var resuming: (@Sendable (CurlExchange) -> Void)?
            if streams != nil { resuming = { [weak driver] exchange in driver?.resume(exchange) } }
            let exchange = CurlExchange(
                request, deadline: deadline, streams: streams, round: round, resuming: resuming)
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
        /// The client's ``CurlHTTPClient/round`` when the caller's request began.
        let round: CurlRound
        /// The host and port of the URL.
        let host: String
        let response = Promise<HTTPResponse>()
        private let resuming: (@Sendable (CurlExchange) -> Void)?

        init(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant?, streams: HTTPStreams?, round: CurlRound,
            resuming: (@Sendable (CurlExchange) -> Void)? = nil
        ) {
            (self.request, self.deadline, self.streams) = (request, deadline, streams)
            (self.round, self.resuming, host) = (round, resuming, request.url.hostAndPort ?? "")
        }

        /// Whether the exchange counts for the limit of its host. An event stream does not, because it lasts, and would
        /// keep the calls of others waiting.
        var takesTurn: Bool { streams?.transfer.keepAlive == nil }

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

#if os(Linux)
    /// An HTTP client on the libcurl that Foundation itself works with: several times as fast as `URLSession` on Linux.
    ///
    /// Connections are kept and shared by all callers, over HTTP/1.1 or HTTP/2 as TLS negotiates. Cookies are neither kept nor sent. One
    /// thread, started with the first request, drives all of them; it ends with the client, or with ``close()``.
    ///
    /// A request that may change something with every sending (RFC 9110, section 9.2.2: one that is not idempotent) is never repeated by
    /// libcurl, which otherwise does so where a kept connection turns out to be dead.
    ///
    /// Bodies stream from and to files on that thread, a piece at a time.
    public final class CurlHTTPClient: StreamingHTTPClient {
        /// How a ``CurlHTTPClient`` connects.
        public struct Configuration: Sendable {
            /// How secure connections are made.
            public var tls: TLSConfiguration
            /// Which proxy connections go through.
            public var proxy: NetworkProxy
            /// How long making a connection may take, name resolution and TLS included, where the request's own timeout leaves as much.
            public var connectTimeout: Duration
            /// How many connections to one host are open at a time; more requests than that wait for each other.
            public var maximumConnectionsPerHost: Int

            /// A configuration; the parameters are the properties of the same names.
            public init(
                tls: TLSConfiguration = TLSConfiguration(),
                proxy: NetworkProxy = .environment,
                connectTimeout: Duration = .seconds(60),
                maximumConnectionsPerHost: Int = 128
            ) {
                self.tls = tls
                self.proxy = proxy
                self.connectTimeout = connectTimeout
                self.maximumConnectionsPerHost = maximumConnectionsPerHost
            }
        }

        private let driver: CurlDriver

        /// A client with connections of its own.
        /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/other`` where this process holds no libcurl, or one before 7.68.
        public init(configuration: Configuration = Configuration()) throws(HTTPClientError) {
            if case .failure(let reason) = Libcurl.version {
                throw HTTPClientError(.other, reason.description, delivery: .neverSent, cause: reason)
            }
            driver = CurlDriver(configuration)
        }

        deinit {
            driver.close()
        }

        /// Ends the client: exchanges under way fail with ``HTTPClientError/Kind/closed``, and so does every later one.
        public func close() {
            driver.close()
        }

        /// Calls `ended` when thread and handles are gone, for tests.
        func onDriverEnd(_ ended: @escaping @Sendable () -> Void) {
            driver.onEnd(ended)
        }

        public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            try await HTTPRedirect.following(request) { request, deadline in try await exchange(request, deadline: deadline, nil) }
        }

        public func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
            try await transfer.following { request, streams, deadline in try await exchange(request, deadline: deadline, streams) }
        }

        /// One request and its answer, redirects not followed.
        private func exchange(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant?, _ streams: HTTPStreams?
        ) async throws -> HTTPResponse {
            try Task.checkCancellation()
            try request.checkSendable()
            let exchange = CurlExchange(request, deadline: deadline, streams: streams)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    if exchange.begin(continuation) { driver.start(exchange) }
                }
            } onCancel: {
                if exchange.cancel() { driver.abandon(exchange) }
            }
        }
    }
#endif

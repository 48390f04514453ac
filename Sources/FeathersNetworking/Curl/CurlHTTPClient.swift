#if os(Linux)
    import FeathersSupport

    /// An HTTP client on the libcurl that Foundation itself uses: several times as fast as `URLSession` on Linux.
    ///
    /// Connections are kept and shared by all callers, over HTTP/1.1 or HTTP/2 as TLS negotiates. Cookies are neither kept nor sent. One
    /// thread, started with the first request, drives all of them and streams files; it ends with the client, or with ``close()``.
    ///
    /// libcurl repeats requests where a kept connection turns out to be dead, but none that is not idempotent (RFC 9110, section 9.2.2).
    public final class CurlHTTPClient: StreamingHTTPClient {
        let driver: CurlDriver

        /// A client with connections of its own.
        /// - Parameters:
        ///   - tls: how secure connections are made.
        ///   - proxy: which proxy connections go through.
        ///   - connectTimeout: how long connecting may take, name resolution and TLS included, if the request's timeout leaves as much.
        ///   - maximumConnectionsPerHost: how many are open at a time; more requests than that wait for each other.
        /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/other`` where this process has no libcurl, or one before 7.68.
        public init(
            tls: TLSConfiguration = TLSConfiguration(), proxy: NetworkProxy = .environment, connectTimeout: Duration = .seconds(60),
            maximumConnectionsPerHost: Int = 128
        ) throws(HTTPClientError) {
            if case .failure(let error) = Libcurl.version { throw error }
            driver = CurlDriver(
                CurlSettings(
                    tls: tls, proxy: proxy, connectTimeout: connectTimeout, maximumConnectionsPerHost: maximumConnectionsPerHost))
        }

        deinit { driver.close() }

        /// Ends the client: exchanges in flight fail with ``HTTPClientError/Kind/closed``, and so does every later one.
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
            let exchange = CurlExchange(request, deadline: deadline, streams: streams, generation: generation)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    if exchange.begin(continuation) { driver.start(exchange) }
                }
            } onCancel: {
                if exchange.cancel() { driver.abandon(exchange) }
            }
        }
    }

    /// One request in flight: resumes the caller exactly once. The response, the deadline, cancellation and the closing client race to end
    /// it. The first to take the continuation out of the lock wins; the others find nothing to do.
    final class CurlExchange: Sendable {
        private enum Phase: Sendable {
            case new
            case waiting(CheckedContinuation<HTTPResponse, any Error>)
            case ended
        }

        let request: HTTPRequest
        let deadline: ContinuousClock.Instant?
        /// What streams, and who watches; nil where bodies are in memory.
        let streams: HTTPStreams?
        /// The driver's ``CurlDriver/generation`` when the caller's request began.
        let generation: Int
        private let phase = Locked(Phase.new)

        init(_ request: HTTPRequest, deadline: ContinuousClock.Instant?, streams: HTTPStreams?, generation: Int) {
            self.generation = generation
            self.request = request
            self.deadline = deadline
            self.streams = streams
        }

        var host: String? { request.url.hostAndPort }

        /// Takes the continuation, which this exchange resumes from here on.
        /// - Returns: false where the caller was cancelled before; it has been resumed then.
        func begin(_ continuation: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
            let isCancelled = phase.withLock { phase in
                guard case .new = phase else { return true }
                phase = .waiting(continuation)
                return false
            }
            if isCancelled { continuation.resume(throwing: CancellationError()) }
            return !isCancelled
        }

        var isWaiting: Bool { phase.withLock { if case .waiting = $0 { true } else { false } } }

        func finish(_ result: Result<HTTPResponse, HTTPClientError>) {
            guard let continuation = end() else { return }
            switch result {
            case .success(let response): continuation.resume(returning: response)
            case .failure(let error): continuation.resume(throwing: error)
            }
        }

        /// Resumes the caller with `CancellationError`; true where it was waiting, so that a transfer may have to be given up.
        func cancel() -> Bool {
            guard let continuation = end() else { return false }
            continuation.resume(throwing: CancellationError())
            return true
        }

        private func end() -> CheckedContinuation<HTTPResponse, any Error>? {
            phase.withLock { phase in
                defer { phase = .ended }
                guard case .waiting(let continuation) = phase else { return nil }
                return continuation
            }
        }
    }
#endif

public import FeathersNetworking
public import FeathersSupport

/// An HTTP client without a network, which responds with stubs and records the requests.
///
/// Everything above it runs as with a server: building requests, decoding, validation, and mapping errors.
///
/// ```swift
/// let http = StubHTTPClient()
/// http.stub("/messages/1", "GET", with: .json(["id": 1, "text": "Hi"]))
/// http.stub("/messages", "POST", with: .refusal(FeathersError(.forbidden, "Log in first")))
/// let app = FeathersApp(transport: .rest(url, httpClient: http))
/// ```
///
/// It follows redirects, and enforces each request's deadline and size limit. Instances share no state.
public final class StubHTTPClient: HTTPClient, StubHost, SecretHiding {
    public let registry: StubRegistry<HTTPRequest, HTTPResponse>
    private let clock: RelativeClock
    /// How often all exchanges in flight have been ended.
    private let endings = ObservedState(0)

    private init(fallback: HTTPStub, clock: any Clock<Duration>) {
        registry = StubRegistry(fallback: fallback)
        self.clock = RelativeClock(clock)
    }

    /// Creates a strict stub: a request without a registered stub fails with an `HTTPClientError` that names the method
    /// and path.
    /// - Parameter clock: The clock for the timeouts of requests.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .strict, clock: clock)
    }

    /// Creates a stub that responds with the result of `respond` unless a stub is registered. An error that it throws
    /// fails the request.
    public convenience init(
        clock: any Clock<Duration> = ContinuousClock(),
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) { self.init(fallback: Stub(respond), clock: clock) }

    /// Creates a stub that passes requests without a registered stub on to another client.
    public convenience init(passingThrough client: any HTTPClient, clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .passing(to: client), clock: clock)
    }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let host = request.url.hostAndPort
        let before = endings.current
        return try await racing {
            try await self.clock.run(
                atMost: request.timeout, orThrow: HTTPClientError(.timeout, "No response arrived in time", host: host)
            ) {
                try await HTTPRedirect.following(request) { request, _ in try await self.exchange(request) }
            }
        } against: {
            try await self.endings.wait { $0 != before }
            return .failure(HTTPClientError.allCancelled(host: host))
        }
    }

    public func cancelAll() { endings.update { $0 += 1 } }

    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await registry.perform(registry.take(request)) { work in
            let response = try await work()
            guard response.body.count <= request.maximumResponseBytes else {
                throw HTTPClientError(
                    .responseTooLarge, "The response is larger than \(request.maximumResponseBytes) bytes",
                    host: request.url.hostAndPort)
            }
            return response
        }
    }
}

public import FeathersNetworking
import FeathersSupport

/// An HTTP client without a network: answers with stubs and remembers the requests.
///
/// Everything above it runs as it does with a server: the making of requests, decoding, validation, the mapping of errors.
///
/// ```swift
/// let http = StubHTTPClient()
/// http.stub("/messages/1", "GET", with: .json(["id": 1, "text": "Hi"]))
/// http.stub("/messages", "POST", with: .refusal(FeathersError(.forbidden, "Log in first")))
/// let app = FeathersApp(transport: .rest(url, httpClient: http))
/// ```
///
/// It follows redirects and keeps deadlines and size limits as the request says. Two of them never meet.
public final class StubHTTPClient: HTTPClient, StubHost {
    public let book: StubRegistry<HTTPRequest, HTTPResponse>
    private let clock: RelativeClock
    /// How often the exchanges in flight were ended.
    private let endings = ObservedState(0)

    private init(fallback: HTTPStub, clock: any Clock<Duration>) {
        book = StubRegistry(fallback: fallback)
        self.clock = RelativeClock(clock)
    }

    /// A strict stub: a request for which nothing is registered fails with an `HTTPClientError` that names method and path.
    /// - Parameter clock: what the timeouts of requests are measured on.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) { self.init(fallback: .strict, clock: clock) }

    /// A stub that answers with what `answer` returns or throws, unless a stub is registered.
    public convenience init(
        clock: any Clock<Duration> = ContinuousClock(), _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) { self.init(fallback: Stub(answer), clock: clock) }

    /// A stub that hands on to another client whatever no stub is registered for.
    public convenience init(passingThrough client: any HTTPClient, clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .passing(to: client), clock: clock)
    }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let host = request.url.hostAndPort
        let before = endings.current
        return try await racing {
            try await self.clock.run(atMost: request.timeout, orThrow: HTTPClientError(.timeout, "No answer came in time", host: host)) {
                // The deadline above is over all redirects.
                try await HTTPRedirect.following(request) { request, _ in try await self.exchange(request) }
            }
        } against: {
            try await self.endings.wait { $0 != before }
            return HTTPClientError.allCancelled(host: host)
        }
    }

    public func cancelAll() { endings.update { $0 += 1 } }

    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await book.perform(book.take(request)) { work in
            let response = try await work()
            guard response.body.count <= request.maximumResponseBytes else {
                throw HTTPClientError(
                    .responseTooLarge, "The answer has more than \(request.maximumResponseBytes) bytes", host: request.url.hostAndPort)
            }
            return response
        }
    }
}

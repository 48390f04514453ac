#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An HTTP client on `URLSession`.
///
/// The session's configuration decides about TLS, proxies, connection limits, caching and cookies, except that there is no cache on Linux. Redirects,
/// deadlines and size limits are handled here, the same way on every platform. The session ends with the client, or with ``close()``.
///
/// A body of several pieces becomes a temporary file first, since the session uploads nothing else whose length it knows.
public final class URLSessionHTTPClient: StreamingHTTPClient {
    private let session: URLSession
    private let exchanges: URLSessionExchanges
    let reports: URLSessionReports

    /// A client with a session of its own.
    /// - Parameter configuration: how the session works; the default keeps no answers, no cookies and no credentials.
    public init(configuration: URLSessionConfiguration = URLSessionHTTPClient.defaultConfiguration) {
        #if os(Linux)
            // Before 7.84, libcurl's initialization is not thread-safe: ours must come before Foundation's.
            _ = Libcurl.version
        #endif
        exchanges = URLSessionExchanges()
        reports = URLSessionReports(exchanges)
        #if canImport(FoundationNetworking)
            let queue: OperationQueue? = DirectOperationQueue()
            // Foundation on Linux asks the cache aside from its queues; a task cancelled meanwhile may be loaded, or end, when the session has
            // forgotten it, which ends the process.
            let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
            configuration.urlCache = nil
        #else
            let queue: OperationQueue? = nil
        #endif
        session = URLSession(configuration: configuration, delegate: reports, delegateQueue: queue)
    }

    deinit {
        // The session retains its delegate until told to end: without this both would leak.
        session.finishTasksAndInvalidate()
    }

    /// A new configuration that keeps neither answers nor cookies nor credentials; change it as you like before handing it over.
    public static var defaultConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return configuration
    }

    /// Ends the session: exchanges in flight fail with ``HTTPClientError/Kind/closed``, and so does every later one.
    public func close() { exchanges.close(session) }

    public func cancelAll() { exchanges.cancelAll() }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let generation = exchanges.generation
        return try await HTTPRedirect.following(request) { try await exchange($0, deadline: $1, nil, generation) }
    }

    public func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        let generation = exchanges.generation
        return try await transfer.following { try await exchange($0, deadline: $2, $1, generation) }
    }

    private func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant?, _ streams: HTTPStreams?, _ generation: Int
    ) async throws -> HTTPResponse {
        try Task.checkCancellation()
        var request = request
        var upload: BodyFile?
        if let body = streams?.body {
            if body.isInMemory { request.body = try body.bytes() } else { upload = try BodyFile(body) }
        }
        var urlRequest = try URLRequest(sending: request)
        // URLSession's own timer restarts with every byte, which is what a stall is.
        if request.timeout == nil, let stallTimeout = streams?.stallTimeout { urlRequest.timeoutInterval = stallTimeout.clamped.seconds }
        let exchange = URLSessionExchange(request, deadline: deadline, streams: streams, upload: upload, generation: generation)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do throws(HTTPClientError) {
                    exchange.begin(try exchanges.register(exchange, asTaskOf: session, for: urlRequest), continuation: continuation)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            exchange.fail(CancellationError())
        }
    }
}

extension URLRequest {
    /// - Throws: ``HTTPClientError`` where the URL or method cannot be sent.
    init(sending request: HTTPRequest) throws(HTTPClientError) {
        try request.checkSendable()
        self.init(url: request.url)
        httpMethod = request.method
        for field in request.headers { setValue(field.value, forHTTPHeaderField: field.name) }
        if let body = request.body { httpBody = Data(body) }
        if let timeout = request.timeout {
            // URLSession's timer restarts with every byte; ours is the deadline, so this one only has to stay out of its way.
            timeoutInterval = timeout.clamped.seconds + 5
        }
    }
}

extension HTTPResponse {
    init(_ response: HTTPURLResponse, body: [UInt8], requested url: URL) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPHeaders.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        self.init(status: response.statusCode, headers: HTTPHeaders(received: fields), body: body, url: response.url ?? url)
    }
}

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An HTTP client on `URLSession`.
///
/// TLS, proxies, connection limits, caching and cookies are what the session's configuration says, but for the cache on Linux: there is none. Redirects, deadlines and size limits are
/// decided here, alike on every platform. The session ends with the client, or with ``close()``.
///
/// A body of one file is handed to the session as such; one of several pieces becomes a temporary file first, as the session uploads nothing else
/// whose length it knows. What is received goes into its file piece by piece.
public final class URLSessionHTTPClient: StreamingHTTPClient {
    private let session: URLSession
    private let exchanges: URLSessionExchanges
    private let reports: URLSessionReports

    /// A client with a session of its own.
    /// - Parameter configuration: how the session works; the default keeps no answers, no cookies and no credentials.
    public init(configuration: URLSessionConfiguration = URLSessionHTTPClient.defaultConfiguration) {
        #if os(Linux)
            // Before 7.84, libcurl's initialisation is not thread-safe: ours must come before Foundation's.
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
        // The session retains its delegate until told to end: without this both would live for ever.
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

    /// Ends the session: exchanges under way fail with ``HTTPClientError/Kind/closed``, and so does every later one.
    public func close() {
        exchanges.close(session)
    }

    /// How many exchanges are under way, for tests.
    var exchangesUnderWay: Int { exchanges.count }

    /// Calls `ended` when the session has let go of its delegate, for tests.
    func onDelegateEnd(_ ended: @escaping @Sendable () -> Void) {
        reports.onEnd(ended)
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
        var request = request
        var upload: BodyFile?
        if let body = streams?.body {
            if body.isInMemory { request.body = try body.bytes() } else { upload = try BodyFile(body) }
        }
        var urlRequest = try URLRequest(sending: request)
        // URLSession's own timer restarts with every byte, which is what a stall is.
        if request.timeout == nil, let stallTimeout = streams?.stallTimeout { urlRequest.timeoutInterval = stallTimeout.clamped.seconds }
        let exchange = URLSessionExchange(request, deadline: deadline, streams: streams, upload: upload)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard let task = exchanges.register(exchange, asTaskOf: session, for: urlRequest) else {
                    continuation.resume(throwing: HTTPClientError(.closed, "The HTTP client was closed", delivery: .neverSent))
                    return
                }
                exchange.begin(task, continuation: continuation)
            }
        } onCancel: {
            exchange.cancel()
        }
    }
}

import FeathersSupport

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An HTTP client built on `URLSession`.
///
/// The session's configuration determines TLS, proxies, connection limits, caching (never on Linux), and cookies. The
/// client handles redirects, deadlines, and size limits the same way on every platform. The session ends with the
/// client or with ``close()``.
///
/// A body of several pieces first becomes a temporary file, because the session uploads nothing else with a known
/// length. So does a stream: on Linux, Foundation blocks the thread of all sessions while it waits for one.
///
/// On Linux, prefer ``CurlHTTPClient``, which ``PlatformHTTPClient/make()`` chooses if it can. Foundation for Linux has
/// limits that no client built on it can lift:
/// - If a server closes the connection in the middle of a response's head, Foundation ends the process ("Transfer
///   completed, but there's no response"). It does so before it calls its delegate. A connection that is lost after the
///   head, or reset, throws an error as usual.
/// - A response that is read while it arrives cannot slow the server down. If more than 16 MiB of it are unread, the
///   exchange fails.
/// - While pieces of a response arrive faster than they are handled, Foundation keeps about 330 bytes for each of them.
public final class URLSessionHTTPClient: StreamingHTTPClient {
    private let session: URLSession
    private let exchanges: URLSessionExchanges
    let reports: URLSessionReports
    /// The clients of streamed exchanges in flight. Each exchange needs its own session, because on Linux, a slow
    /// reader blocks the session's thread.
    private let streaming = Locked<[ObjectIdentifier: URLSessionHTTPClient]>([:])

    /// Creates a client with its own session.
    /// - Parameter configuration: The session's configuration. The default stores no responses, cookies, or
    ///   credentials.
    public init(configuration: URLSessionConfiguration = URLSessionHTTPClient.defaultConfiguration) {
        #if canImport(FoundationNetworking)
            // Before 7.84, libcurl's initialization isn't thread-safe, so it must happen here before Foundation does
            // it.
            _ = Libcurl.version
        #endif
        exchanges = URLSessionExchanges()
        reports = URLSessionReports(exchanges)
        #if canImport(FoundationNetworking)
            let queue: OperationQueue? = DirectOperationQueue()
            // On Linux, Foundation reads the cache outside its queues. A task cancelled at that moment may be loaded,
            // or may end, after the session has forgotten it, which crashes the process.
            let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
            configuration.urlCache = nil
        #else
            let queue: OperationQueue? = nil
        #endif
        session = URLSession(configuration: configuration, delegate: reports, delegateQueue: queue)
    }

    deinit {
        // The session retains its delegate until it is invalidated. Without this call, both would leak.
        session.finishTasksAndInvalidate()
    }

    /// A new configuration that stores no responses, cookies, or credentials. You can change it before passing it to
    /// the client.
    public static var defaultConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return configuration
    }

    /// Closes the client. Exchanges in flight and all later ones fail with ``HTTPClientError/Kind/closed``.
    public func close() {
        exchanges.close(session)
        for client in streaming.withLock({ $0.values.map(\.self) }) { client.close() }
    }

    public func cancelAll() {
        exchanges.cancelAll()
        for client in streaming.withLock({ $0.values.map(\.self) }) { client.cancelAll() }
    }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let generation = exchanges.generation
        return try await HTTPRedirect.following(request) { try await exchange($0, deadline: $1, nil, generation) }
    }

    public func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        let generation = exchanges.generation
        if transfer.pipe != nil {
            let client = URLSessionHTTPClient(configuration: Self.streamingConfiguration(session.configuration))
            streaming.withLock { $0[ObjectIdentifier(client)] = client }
            defer {
                _ = streaming.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) }
                client.close()
            }
            // A cancellation before the registration did not find this client.
            guard generation == exchanges.generation else {
                throw HTTPClientError.allCancelled(host: transfer.request.url.hostAndPort, delivery: .neverSent)
            }
            return try await client.perform(transfer)
        }
        return try await perform(transfer)
    }

    private static let longestSilence = Duration.seconds(7 * 24 * 3600)

    /// Returns a configuration that keeps a stream open however long it is silent.
    private static func streamingConfiguration(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        guard let copy = configuration.copy() as? URLSessionConfiguration else { return configuration }
        copy.timeoutIntervalForRequest = longestSilence.seconds
        return copy
    }

    private func perform(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
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
            if body.isInMemory { request.body = try await body.bytes() } else { upload = try await BodyFile(body) }
        }
        var urlRequest = try URLRequest(sending: request)
        // URLSession's own timer restarts with every byte, which is exactly what a stall timeout needs. Without one, an
        // event stream may be silent for longer than the 60 seconds that URLSession waits by default.
        let stallTimeout = streams?.transfer.stallTimeout ?? (streams?.transfer.pipe == nil ? nil : Self.longestSilence)
        if let stallTimeout { urlRequest.timeoutInterval = stallTimeout.clamped.seconds }
        let exchange = URLSessionExchange(
            request, deadline: deadline, streams: streams, upload: upload, generation: generation)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do throws(HTTPClientError) {
                    exchange.begin(
                        try exchanges.register(exchange, asTaskOf: session, for: urlRequest), continuation: continuation
                    )
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
    /// - Throws: ``HTTPClientError`` if the URL or method is invalid.
    init(sending request: HTTPRequest) throws(HTTPClientError) {
        try request.checkSendable()
        self.init(url: request.url)
        httpMethod = request.method
        for field in request.headers { setValue(field.value, forHTTPHeaderField: field.name) }
        if let body = request.body { httpBody = Data(body) }
        if let timeout = request.timeout {
            // URLSession's timer restarts with every byte. The client enforces the deadline itself, so this timer only
            // needs to fire later.
            timeoutInterval = timeout.clamped.seconds + 5
        }
    }
}

extension HTTPResponse {
    init(_ response: HTTPURLResponse, body: [UInt8], to request: HTTPRequest) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPHeaders.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        self.init(
            status: response.statusCode, headers: HTTPHeaders(received: fields), body: body,
            url: response.url ?? request.url)
        hasLostFields = request.hasLostFields
    }
}

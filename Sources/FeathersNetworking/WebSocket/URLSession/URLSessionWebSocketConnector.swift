#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Opens WebSockets on `URLSessionWebSocketTask`: the default on Apple's platforms.
///
/// On Linux it works only where Foundation was built with a libcurl that speaks WebSocket, and then may tear messages of more than 4 KB apart; elsewhere
/// connecting throws ``WebSocketError/Kind/unsupported``. TLS and proxies are what the session's configuration says.
public struct URLSessionWebSocketConnector: WebSocketConnector {
    private let makeConfiguration: @Sendable () -> URLSessionConfiguration

    /// A connector that makes a session for each connection.
    /// - Parameter configuration: makes the configuration of a connection's session; the default keeps nothing on disk, no cookies and
    ///   no credentials.
    public init(
        configuration: @escaping @Sendable () -> URLSessionConfiguration = { URLSessionHTTPClient.defaultConfiguration }
    ) {
        makeConfiguration = configuration
    }

    /// Opens a connection.
    /// - Throws: ``WebSocketError`` naming what failed; `CancellationError` when the task is cancelled, at once.
    public func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
        try Task.checkCancellation()
        let target = try WebSocketTarget(request.url)
        let state = URLSessionWebSocketState(host: target.host)
        // One session for each connection, so that the session's end is the connection's.
        let reports = URLSessionWebSocketReports(state)
        let session = URLSession(configuration: makeConfiguration(), delegate: reports, delegateQueue: state.reports)
        // Ends by itself once the task has.
        defer { session.finishTasksAndInvalidate() }
        let task = session.webSocketTask(with: try Self.urlRequest(request, target))
        task.maximumMessageSize = request.maximumMessageSize
        state.limit(task, to: request.timeout.clamped, "No WebSocket to \(target.host) was open in time")
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard state.waitForOpening(continuation) else { return }
                task.resume()
            }
        } onCancel: {
            state.cancelOpening()
            task.cancel()
        }
        return URLSessionWebSocketConnection(task: task, state: state)
    }

    private static func urlRequest(_ request: WebSocketRequest, _ target: WebSocketTarget) throws(WebSocketError) -> URLRequest {
        var components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        components?.scheme = target.isSecure ? "wss" : "ws"
        guard let url = components?.url else { throw WebSocketError(.invalidURL, "The URL cannot be used (\(target.host))") }
        var urlRequest = URLRequest(url: url)
        for field in request.headers {
            urlRequest.setValue(field.value, forHTTPHeaderField: field.name)
        }
        #if canImport(FoundationNetworking)
            // libcurl before 8.17 leaves it out, and servers insist on it.
            urlRequest.setValue("Upgrade", forHTTPHeaderField: "Connection")
        #endif
        // URLSession's own timer must stay out of our deadline's way.
        urlRequest.timeoutInterval = request.timeout.clamped.seconds + 5
        return urlRequest
    }
}

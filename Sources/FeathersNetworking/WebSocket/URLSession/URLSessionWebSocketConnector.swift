#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Opens WebSockets with `URLSessionWebSocketTask`. This is the default on Apple platforms.
///
/// On Linux, it works only if Foundation was built with a libcurl that supports WebSocket, and may then split messages
/// larger than 4 KB. Otherwise, connecting throws ``WebSocketError/Kind/unsupported``. The session's configuration
/// determines TLS and proxies.
public struct URLSessionWebSocketConnector: WebSocketConnector {
    private let makeConfiguration: @Sendable () -> URLSessionConfiguration

    /// Creates a connector that uses a new session for each connection.
    /// - Parameter configuration: Creates a session's configuration. The default stores nothing on disk, no cookies,
    ///   and no credentials.
    public init(
        configuration: @escaping @Sendable () -> URLSessionConfiguration = { URLSessionHTTPClient.defaultConfiguration }
    ) {
        makeConfiguration = configuration
    }

    /// Opens a connection.
    /// - Throws: ``WebSocketError``, which names what failed, or `CancellationError` as soon as the task is cancelled.
    public func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
        try Task.checkCancellation()
        let target = try WebSocketTarget(request.url)
        let state = URLSessionWebSocketState(host: target.host)
        // One session per connection, so that the end of the session is the end of the connection.
        let reports = URLSessionWebSocketReports(state)
        let session = URLSession(configuration: makeConfiguration(), delegate: reports, delegateQueue: state.reports)
        // Takes effect when the task has ended.
        defer { session.finishTasksAndInvalidate() }
        let task = session.webSocketTask(with: try Self.urlRequest(request, target))
        task.maximumMessageSize = request.maximumMessageSize
        state.limit(task, to: request.timeout.clamped, "The WebSocket to \(target.host) did not open in time")
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

    private static func urlRequest(_ request: WebSocketRequest, _ target: WebSocketTarget) throws(WebSocketError)
        -> URLRequest
    {
        var components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        components?.scheme = target.isSecure ? "wss" : "ws"
        guard let url = components?.url else {
            throw WebSocketError(.invalidURL, "The URL cannot be used (\(target.host))")
        }
        var urlRequest = URLRequest(url: url)
        for field in request.headers { urlRequest.setValue(field.value, forHTTPHeaderField: field.name) }
        #if canImport(FoundationNetworking)
            // libcurl before 8.17 omits this field, which servers require.
            urlRequest.setValue("Upgrade", forHTTPHeaderField: "Connection")
        #endif
        // URLSession's own timer must not fire before our deadline.
        urlRequest.timeoutInterval = request.timeout.clamped.seconds + 5
        return urlRequest
    }
}

final class URLSessionWebSocketReports: NSObject, URLSessionWebSocketDelegate {
    private let state: URLSessionWebSocketState

    init(_ state: URLSessionWebSocketState) { self.state = state }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux treats any response as a successful handshake.
            if let status = (webSocketTask.response as? HTTPURLResponse)?.statusCode, status != 101 {
                state.finish(WebSocketClosure(ended: webSocketTask, nil, host: state.host))
                webSocketTask.cancel()
                return
            }
        #endif
        state.opened()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        state.end(WebSocketClosure(closeCode, reason: reason), of: webSocketTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let task = task as? URLSessionWebSocketTask else { return }
        state.end(WebSocketClosure(ended: task, error, host: state.host), of: task)
    }

    /// Does not follow redirects of an opening handshake, but treats them like any other response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension WebSocketClosure {
    init(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        // URLSession reports a missing code as 0.
        let number = UInt16(exactly: code.rawValue).flatMap { $0 == 0 ? nil : $0 } ?? 1005
        self.init(code: number, reason: reason.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }

    init(ended task: URLSessionWebSocketTask, _ error: (any Error)?, host: String) {
        if task.closeCode != .invalid, task.closeCode != .abnormalClosure, task.error == nil {
            self.init(task.closeCode, reason: task.closeReason)
        } else {
            self.init(code: 1006, error: WebSocketError(urlSession: error, response: task.response, host: host))
        }
    }
}

extension WebSocketError {
    init(urlSession error: (any Error)?, response: URLResponse?, host: String) {
        if let status = (response as? HTTPURLResponse)?.statusCode, status != 101 {
            self.init(.refused(status: status), "The server refused the WebSocket: \(status) (\(host))")
            return
        }
        guard let error else {
            self.init(.connectionLost, "\(host) ended the connection without closing the WebSocket")
            return
        }
        #if canImport(FoundationNetworking)
            if (error as? URLError)?.code == .unsupportedURL {
                self.init(.unsupported, "Foundation does not support WebSockets on this system")
                return
            }
        #endif
        if (error as NSError).domain == NSPOSIXErrorDomain, (error as NSError).code == Int(EMSGSIZE) {
            self.init(.messageTooLarge, "A message is larger than the maximum size")
            return
        }
        let meaning = HTTPClientError(urlSession: error, host: host)
        switch meaning.kind {
        case .invalidURL: self.init(.invalidURL, "\(meaning.message) (\(host))")
        case .hostNotFound, .cannotConnect: self.init(.cannotConnect, "\(meaning.message) (\(host))")
        case .tls: self.init(.tls, "\(meaning.message) (\(host))")
        case .timeout: self.init(.timeout, "\(meaning.message) (\(host))")
        case .badResponse:
            self.init(.refused(status: nil), "The server's response isn't a WebSocket handshake (\(host))")
        default: self.init(.connectionLost, "The connection to \(host) was lost")
        }
    }
}

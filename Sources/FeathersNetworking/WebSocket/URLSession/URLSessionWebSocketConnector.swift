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
    /// - Parameter configuration: makes the configuration of a session; the default keeps nothing on disk, no cookies, no credentials.
    public init(configuration: @escaping @Sendable () -> URLSessionConfiguration = { URLSessionHTTPClient.defaultConfiguration }) {
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
        for field in request.headers { urlRequest.setValue(field.value, forHTTPHeaderField: field.name) }
        #if canImport(FoundationNetworking)
            // libcurl before 8.17 leaves it out, and servers insist on it.
            urlRequest.setValue("Upgrade", forHTTPHeaderField: "Connection")
        #endif
        // URLSession's own timer must stay out of our deadline's way.
        urlRequest.timeoutInterval = request.timeout.clamped.seconds + 5
        return urlRequest
    }
}

final class URLSessionWebSocketReports: NSObject, URLSessionWebSocketDelegate {
    private let state: URLSessionWebSocketState

    init(_ state: URLSessionWebSocketState) { self.state = state }

    func urlSession(_ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux takes any answer for the one it hoped for.
            if let status = (webSocketTask.response as? HTTPURLResponse)?.statusCode, status != 101 {
                state.finish(WebSocketClosure(ended: webSocketTask, nil, host: state.host))
                webSocketTask.cancel()
                return
            }
        #endif
        state.opened()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        state.end(WebSocketClosure(closeCode, reason: reason), of: webSocketTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let task = task as? URLSessionWebSocketTask else { return }
        state.end(WebSocketClosure(ended: task, error, host: state.host), of: task)
    }

    /// Redirects of an opening handshake are answers like any other: not followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension WebSocketClosure {
    init(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        // 0 is URLSession's way to say that there was no code.
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
                self.init(.unsupported, "Foundation has no WebSockets here")
                return
            }
        #endif
        if (error as NSError).domain == NSPOSIXErrorDomain, (error as NSError).code == Int(EMSGSIZE) {
            self.init(.messageTooLarge, "A message is larger than accepted")
            return
        }
        let meaning = HTTPClientError(urlSession: error, host: host)
        switch meaning.kind {
        case .invalidURL: self.init(.invalidURL, "\(meaning.message) (\(host))")
        case .hostNotFound, .cannotConnect: self.init(.cannotConnect, "\(meaning.message) (\(host))")
        case .tls: self.init(.tls, "\(meaning.message) (\(host))")
        case .timeout: self.init(.timeout, "\(meaning.message) (\(host))")
        case .badResponse: self.init(.refused(status: nil), "The server's answer is no WebSocket's (\(host))")
        default: self.init(.connectionLost, "The connection to \(host) was lost")
        }
    }
}

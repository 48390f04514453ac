import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a WebSocket's session.
final class URLSessionWebSocketReports: NSObject, URLSessionWebSocketDelegate {
    private let state: URLSessionWebSocketState

    init(_ state: URLSessionWebSocketState) {
        self.state = state
    }

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

    /// Reads how a task ended.
    init(ended task: URLSessionWebSocketTask, _ error: (any Error)?, host: String) {
        if task.closeCode != .invalid, task.closeCode != .abnormalClosure, task.error == nil {
            self.init(task.closeCode, reason: task.closeReason)
        } else {
            self.init(code: 1006, error: WebSocketError(urlSession: error, response: task.response, host: host))
        }
    }
}

extension WebSocketError {
    /// Reads what URLSession reports.
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

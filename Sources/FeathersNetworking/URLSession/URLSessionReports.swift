import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session's delegate, which forwards URLSession's callbacks to the exchanges they belong to.
final class URLSessionReports: NSObject, URLSessionDataDelegate {
    private let exchanges: URLSessionExchanges

    init(_ exchanges: URLSessionExchanges) { self.exchanges = exchanges }

    /// Only streamed exchanges need the head before the body.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchanges[dataTask]?.receivedHead(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchanges[dataTask]?.received(data, of: dataTask.response)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchanges[task]?.sent(totalBytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchanges.remove(task)?.completed(task.response, error)
    }

    /// Leaves redirects to the client: URLSession's rules differ between platforms and keep `Authorization` across
    /// origins.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // On Linux, Foundation crashes the process if a task is cancelled before this reply reaches it. So a task
            // is either cancelled and gets no reply, or gets a reply and is left to end.
            guard exchanges[task]?.willEnd() == true else { return }
        #endif
        completionHandler(nil)
    }

    /// Leaves challenges to the configuration. Server trust is evaluated as usual, and without credentials, a 401 is
    /// simply the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux (before corelibs #5457) never ends a task without a credential, although the whole
            // 401 has arrived by now.
            if let response = challenge.failureResponse,
                challenge.proposedCredential == nil || challenge.previousFailureCount > 0
            {
                // As above: either cancelled, or replied to and left to end.
                guard let exchange = exchanges[task], exchange.willEnd() else { return }
                _ = exchanges.remove(task)
                exchange.completed(response, nil)
                DispatchQueue.global().async { completionHandler(.cancelAuthenticationChallenge, nil) }
                return
            }
        #endif
        completionHandler(.performDefaultHandling, nil)
    }
}

#if canImport(FoundationNetworking)
    import Foundation

    /// Runs delegate calls where URLSession makes them: on the session's own queue, one after another.
    ///
    /// On Linux, Foundation wraps every callback in an operation of its own, which alone costs a quarter of the
    /// requests per second. The callbacks here only append bytes and resume callers. Code that calls back into the
    /// session must leave this queue first, because the session then waits for its own queue.
    ///
    /// Unchecked: it adds no state to `OperationQueue`, which is thread-safe.
    final class DirectOperationQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#endif

import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The session's delegate: passes what URLSession reports to the exchange it belongs to.
final class URLSessionReports: NSObject, URLSessionDataDelegate {
    private let exchanges: URLSessionExchanges

    init(_ exchanges: URLSessionExchanges) { self.exchanges = exchanges }

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

    /// Redirects are followed by the client itself: URLSession's own rules differ between platforms and keep `Authorization` across origins.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux ends the process when a task is cancelled before this answer has reached it. So either the task is cancelled
            // and gets no answer, or it gets one and is left to end.
            guard exchanges[task]?.willEnd() == true else { return }
        #endif
        completionHandler(nil)
    }

    /// Leaves challenges to the configuration: server trust is evaluated as usual, and without credentials a 401 is simply the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux (before corelibs #5457) never ends a task it finds no credential for, although the whole 401 has arrived by now.
            if let response = challenge.failureResponse, challenge.proposedCredential == nil || challenge.previousFailureCount > 0 {
                // As above: either cancelled, or answered and left to end.
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
    /// Foundation on Linux wraps every report in an operation of its own; that alone costs a quarter of the requests per second. The
    /// reports here only append bytes and wake callers. What calls back into the session must leave this queue first, since the
    /// session waits for its own queue then.
    ///
    /// Unchecked: it adds no state to `OperationQueue`, which is thread-safe.
    final class DirectOperationQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#endif

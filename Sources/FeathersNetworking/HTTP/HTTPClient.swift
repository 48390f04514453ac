/// A type that executes HTTP requests, each with one complete response.
///
/// Any number of concurrent callers can share a client. Bodies are held in memory; clients that can also stream them
/// conform to ``StreamingHTTPClient``.
public protocol HTTPClient: Sendable {
    /// Sends a request, follows redirects as the request allows, and returns the response regardless of its status.
    ///
    /// Canceling the calling task ends the exchange immediately. The client remains usable.
    /// - Throws: ``HTTPClientError`` if no complete response arrived, or `CancellationError` if the task was cancelled.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Ends every exchange in flight. The client remains usable.
    ///
    /// Each exchange fails with ``HTTPClientError`` of kind ``HTTPClientError/Kind/closed``. Its delivery is
    /// ``HTTPClientError/Delivery/neverSent`` only if the request was never sent. The default implementation does
    /// nothing.
    func cancelAll()
}

/// An HTTP client that knows how many requests wait for a connection.
package protocol RequestQueueing: HTTPClient {
    /// The number of these requests, of all clients that share its connections.
    var waitingRequests: Int { get }
}

extension HTTPClient {
    /// Does nothing.
    public func cancelAll() {}

    /// Executes a transfer, and ends its pipe with the outcome. Returns once the whole body has been written to the
    /// pipe.
    package func stream(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        do {
            let response = try await self.transfer(transfer)
            transfer.pipe?.end(.success(response))
            return response
        } catch {
            transfer.pipe?.end(.failure(error))
            throw error
        }
    }

    /// Executes a transfer. Streams if the client can. Otherwise, holds the bodies in memory and reports progress only
    /// at the beginning and end.
    package func transfer(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        if let client = self as? any StreamingHTTPClient { return try await client.execute(transfer) }
        var request = transfer.request
        request.body = try await transfer.body?.bytes()
        let count = Int64(request.body?.count ?? 0)
        transfer.progress?(TransferProgress(totalToSend: count))
        var response = try await execute(request)
        if let pipe = transfer.pipe {
            pipe.end(.success(response))
            if response.isSuccess { response.body = [] }
        }
        let received = Int64(response.body.count)
        if let destination = transfer.destination, response.isSuccess {
            let file = try DownloadFile(destination)
            try response.body.withUnsafeBytes { try file.write($0) }
            try file.commit()
            response.body = []
        }
        transfer.progress?(
            TransferProgress(sent: count, totalToSend: count, received: received, totalToReceive: received))
        return response
    }
}

/// An HTTP client that also streams bodies from and to files. Other clients hold bodies in memory, regardless of their
/// size.
///
/// Your own conforming type typically wraps another client: change the transfer's request as needed, then pass the
/// transfer on.
public protocol StreamingHTTPClient: HTTPClient {
    /// Executes a transfer, as ``HTTPClient/execute(_:)`` does a request. Canceling also removes any data received.
    /// - Throws: ``HTTPClientError`` if no complete response arrived or a file failed, or `CancellationError` if the
    ///   task was cancelled.
    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse
}

/// The HTTP client for this platform.
public enum PlatformHTTPClient {
    /// Creates a client: ``CurlHTTPClient`` on Linux and Android if the process has libcurl 7.68 or later, otherwise
    /// ``URLSessionHTTPClient``.
    ///
    /// All clients of libcurl that this method creates share their connections and a thread. Connections keep nothing of
    /// a user, and each client ends only its own requests.
    public static func make() -> any HTTPClient { make(isShared: true) }

    package static func make(isShared: Bool) -> any HTTPClient {
        #if canImport(FoundationNetworking)
            if let client = try? isShared ? CurlHTTPClient(.shared()) : CurlHTTPClient() { return client }
        #endif
        return URLSessionHTTPClient()
    }
}

/// Executes HTTP requests: one request, one whole response.
///
/// A client is shared by any number of concurrent callers. Bodies are held in memory; clients that also stream them conform to
/// ``StreamingHTTPClient``.
public protocol HTTPClient: Sendable {
    /// Sends a request, follows redirects as the request allows, and returns the response whatever its status.
    ///
    /// Cancelling the calling task ends the exchange at once and leaves the client usable.
    /// - Throws: ``HTTPClientError`` when no complete response came, `CancellationError` when cancelled.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Ends every exchange in flight and leaves the client usable.
    ///
    /// Each fails with ``HTTPClientError`` of kind ``HTTPClientError/Kind/closed``; its delivery is ``HTTPClientError/Delivery/neverSent`` only where
    /// the request never left. The default implementation does nothing.
    func cancelAll()
}

extension HTTPClient {
    /// Does nothing.
    public func cancelAll() {}

    /// Executes a transfer: streaming where the client can, else in memory, with progress at the beginning and at the end.
    package func transfer(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        if let client = self as? any StreamingHTTPClient { return try await client.execute(transfer) }
        var request = transfer.request
        request.body = try transfer.body?.bytes()
        let count = Int64(request.body?.count ?? 0)
        transfer.progress?(TransferProgress(totalToSend: count))
        var response = try await execute(request)
        let received = Int64(response.body.count)
        if let destination = transfer.destination, response.isSuccess {
            let file = try DownloadFile(destination)
            try response.body.withUnsafeBytes { try file.write($0) }
            try file.commit()
            response.body = []
        }
        transfer.progress?(TransferProgress(sent: count, totalToSend: count, received: received, totalToReceive: received))
        return response
    }
}

/// An HTTP client that also streams bodies from and to files; others get bodies in memory, whatever their size.
///
/// One of your own wraps another: it may change the transfer's request, and passes the transfer on.
public protocol StreamingHTTPClient: HTTPClient {
    /// Executes a transfer, as ``HTTPClient/execute(_:)`` does a request. Cancelling also removes what was received.
    /// - Throws: ``HTTPClientError`` when no complete response came or a file failed, `CancellationError` when cancelled.
    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse
}

/// The HTTP client for this platform.
public enum PlatformHTTPClient {
    /// A new client: ``CurlHTTPClient`` on Linux where the process holds libcurl 7.68 or later, else ``URLSessionHTTPClient``.
    public static func make() -> any HTTPClient {
        #if os(Linux)
            if let client = try? CurlHTTPClient() { return client }
        #endif
        return URLSessionHTTPClient()
    }
}

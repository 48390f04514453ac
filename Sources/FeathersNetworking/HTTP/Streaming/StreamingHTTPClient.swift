/// An HTTP client that also streams bodies from and to files.
///
/// A client without it is handed bodies in memory instead, whatever their size.
public protocol StreamingHTTPClient: HTTPClient {
    /// Sends a request, follows redirects as the request allows, and returns the answer whatever its status.
    ///
    /// Cancelling the calling task gives the transfer up at once, removes what was received, and leaves the client usable.
    /// - Throws: ``HTTPClientError`` when no complete answer came or a file failed, `CancellationError` when cancelled.
    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse
}

extension HTTPClient {
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

extension HTTPResponse {
    /// Whether the status is one of 200 to 299.
    package var isSuccess: Bool { (200..<300).contains(status) }
}

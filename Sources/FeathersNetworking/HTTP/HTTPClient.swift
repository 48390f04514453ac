/// The seam to HTTP: executes one request and returns the whole answer.
///
/// Implementations know nothing of services. A client is shared by any number of concurrent callers. Bodies are held in memory;
/// streaming is a separate capability, ``StreamingHTTPClient``, so that this seam stays one method wide.
public protocol HTTPClient: Sendable {
    /// Sends a request, follows redirects as the request allows, and returns the answer whatever its status.
    ///
    /// Cancelling the calling task gives the exchange up at once and leaves the client usable.
    /// - Throws: ``HTTPClientError`` when no complete answer came, `CancellationError` when cancelled.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse
}

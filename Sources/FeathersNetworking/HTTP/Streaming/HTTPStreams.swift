/// The streams of one exchange: a transfer without its request, one for each redirect.
final class HTTPStreams: Sendable {
    /// What is sent; nil for no body.
    let body: HTTPBody?
    /// What a successful answer is written to; nil where answers stay in memory.
    let download: DownloadFile?
    let stallTimeout: Duration?
    private let progress: (@Sendable (TransferProgress) -> Void)?

    /// - Throws: ``HTTPClientError/Kind/unwritableFile``.
    init(_ transfer: HTTPTransfer, sendsBody: Bool) throws(HTTPClientError) {
        body = sendsBody ? transfer.body : nil
        download = try transfer.destination.map { (url) throws(HTTPClientError) in try DownloadFile(url) }
        stallTimeout = transfer.stallTimeout
        progress = transfer.progress
    }

    func report(_ step: TransferProgress) {
        progress?(step)
    }
}

extension HTTPTransfer {
    /// Executes the exchanges of this transfer, redirects followed as its request allows, and puts the file into its place.
    /// - Parameter exchange: sends one request and gives its answer, not later than the deadline.
    func following(
        _ exchange: (HTTPRequest, HTTPStreams, ContinuousClock.Instant?) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var original = request
        original.body = nil
        var last: HTTPStreams?
        // The file of an exchange that failed or was redirected.
        defer { last?.download?.discard() }
        let response = try await HTTPRedirect.following(original) { request, deadline in
            last?.download?.discard()
            // A redirect that made the request a GET has dropped its body.
            let streams = try HTTPStreams(self, sendsBody: request.method == original.method)
            last = streams
            return try await exchange(request, streams, deadline)
        }
        if response.isSuccess { try last?.download?.commit() }
        return response
    }
}

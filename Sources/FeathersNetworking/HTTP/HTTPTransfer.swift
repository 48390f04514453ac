package import Foundation

/// An exchange with streaming bodies: what is sent comes from files, what is received goes into one.
public struct HTTPTransfer: Sendable {
    /// The request; its own body is ignored.
    public var request: HTTPRequest
    package var body: HTTPBody?
    /// The file that receives the body of a successful response (200 to 299), replacing an existing one. The response's body is empty then.
    package var destination: URL?
    /// How long the transfer may stall; nil for no limit. ``HTTPRequest/timeout`` limits the whole transfer.
    package var stallTimeout: Duration?
    /// Reports every step. Called often, and on the network's own thread: it must return at once.
    package var progress: (@Sendable (TransferProgress) -> Void)?

    /// Creates a transfer. Without a destination, the response's body stays in memory.
    package init(
        _ request: HTTPRequest, body: HTTPBody? = nil, destination: URL? = nil, stallTimeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.request = request
        self.body = body
        self.destination = destination
        self.stallTimeout = stallTimeout
        self.progress = progress
    }

    /// Executes the exchanges of this transfer, redirects followed as its request allows, and puts the file into its place.
    /// - Parameter exchange: sends one request and returns its response by the deadline.
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

/// The progress of a transfer, in bytes of bodies. It starts over after a redirect.
public struct TransferProgress: Hashable, Sendable {
    /// Bytes handed to the network so far.
    public var sent: Int64
    /// Bytes to send in all.
    public var totalToSend: Int64
    /// Bytes received so far, after decompression.
    public var received: Int64
    /// Bytes to receive in all; nil until the server says so, and where it does not or compresses.
    public var totalToReceive: Int64?

    package init(sent: Int64 = 0, totalToSend: Int64 = 0, received: Int64 = 0, totalToReceive: Int64? = nil) {
        self.sent = sent
        self.totalToSend = totalToSend
        self.received = received
        self.totalToReceive = totalToReceive
    }

    /// The fraction of all bytes that has moved, 0 to 1; of the upload alone until the size of the download is known.
    public var fraction: Double? {
        let total = totalToSend + (totalToReceive ?? 0)
        guard total > 0 else { return nil }
        return Double(sent + (totalToReceive == nil ? 0 : received)) / Double(total)
    }
}

/// The streams of one exchange: a transfer without its request. Every redirect has its own.
final class HTTPStreams: Sendable {
    let body: HTTPBody?
    /// What a successful response is written to; nil where answers stay in memory.
    let download: DownloadFile?
    let stallTimeout: Duration?
    let progress: (@Sendable (TransferProgress) -> Void)?

    /// - Throws: ``HTTPClientError/Kind/unwritableFile``.
    init(_ transfer: HTTPTransfer, sendsBody: Bool) throws(HTTPClientError) {
        body = sendsBody ? transfer.body : nil
        download = try transfer.destination.map { (url) throws(HTTPClientError) in try DownloadFile(url) }
        stallTimeout = transfer.stallTimeout
        progress = transfer.progress
    }
}

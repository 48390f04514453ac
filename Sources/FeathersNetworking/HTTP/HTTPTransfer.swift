package import Foundation

/// An exchange with streaming bodies, which are sent from files and streams, and received into a file or a pipe.
public struct HTTPTransfer: Sendable {
    /// The request. Its own body is ignored.
    public var request: HTTPRequest
    package var body: HTTPBody?
    /// The file that receives the body of a successful response (200 to 299), replacing any existing file. The
    /// response's body is then empty.
    package var destination: URL?
    /// The pipe that receives the body of a successful response as it arrives. The response's body is then empty.
    package var pipe: HTTPBodyPipe?
    /// How often the system probes a silent connection for a peer that is gone (TCP keepalive); nil for the client's
    /// default. Such an exchange has a connection of its own. `URLSession` has no such setting.
    package var keepAlive: Duration?
    /// How long the transfer may stall, or nil for no limit. ``HTTPRequest/timeout`` limits the whole transfer.
    package var stallTimeout: Duration?
    /// A closure that receives progress. It is called often, and on the client's own thread, so it must return quickly.
    package var progress: (@Sendable (TransferProgress) -> Void)?

    /// Creates a transfer. Without a destination, the response's body stays in memory.
    package init(
        _ request: HTTPRequest, body: HTTPBody? = nil, destination: URL? = nil, pipe: HTTPBodyPipe? = nil,
        keepAlive: Duration? = nil,
        stallTimeout: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.request = request
        self.body = body
        self.destination = destination
        (self.pipe, self.keepAlive) = (pipe, keepAlive)
        self.stallTimeout = stallTimeout
        self.progress = progress
    }

    /// Executes the exchanges of this transfer, following redirects as its request allows, and moves the file to its
    /// destination. A redirect that repeats a body with a stream fails, because the stream has been read.
    /// - Parameter exchange: Sends one request and returns its response by the deadline.
    func following(
        _ exchange: (HTTPRequest, HTTPStreams, ContinuousClock.Instant?) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var original = request
        original.body = nil
        var last: HTTPStreams?
        // Removes the file of an exchange that failed or was redirected.
        defer { last?.download?.discard() }
        let response = try await (body ?? HTTPBody()).feeding { attempt in
            try await HTTPRedirect.following(original) { request, deadline in
                last?.download?.discard()
                // A redirect that changed the method to GET has dropped the body.
                let sendsBody = body != nil && request.method == original.method
                let streams = try HTTPStreams(self, body: sendsBody ? attempt : nil)
                last = streams
                return try await exchange(request, streams, deadline)
            }
        }
        if response.isSuccess { try last?.download?.commit() }
        return response
    }
}

/// The progress of a transfer, in body bytes. It restarts after a redirect.
public struct TransferProgress: Hashable, Sendable {
    /// The number of bytes passed to the network so far.
    public var sent: Int64
    /// The total number of bytes to send. While a stream is being sent, the total is unknown, and this is less than
    /// ``sent``.
    public var totalToSend: Int64
    /// The number of bytes received so far, after decompression.
    public var received: Int64
    /// The total number of bytes to receive. Nil until the server reports it, if it never does, or if the body is
    /// compressed.
    public var totalToReceive: Int64?

    package init(sent: Int64 = 0, totalToSend: Int64 = 0, received: Int64 = 0, totalToReceive: Int64? = nil) {
        self.sent = sent
        self.totalToSend = totalToSend
        self.received = received
        self.totalToReceive = totalToReceive
    }

    /// The fraction of all bytes transferred, from 0 to 1. Until the size of the download is known, it covers only the
    /// upload. Nil while a stream is being sent.
    public var fraction: Double? {
        let total = totalToSend + (totalToReceive ?? 0)
        guard total > 0, sent <= totalToSend else { return nil }
        return Double(sent + (totalToReceive == nil ? 0 : received)) / Double(total)
    }
}

/// The streams of a single exchange. Every redirect has its own.
final class HTTPStreams: Sendable {
    let transfer: HTTPTransfer
    /// The body to send, or nil if there is none or a redirect dropped it.
    let body: HTTPBody?
    /// The file that receives a successful response, or nil if responses stay in memory.
    let download: DownloadFile?

    /// - Throws: ``HTTPClientError/Kind/unwritableFile``.
    init(_ transfer: HTTPTransfer, body: HTTPBody?) throws(HTTPClientError) {
        (self.transfer, self.body) = (transfer, body)
        download = try transfer.destination.map { (url) throws(HTTPClientError) in try DownloadFile(url) }
    }
}

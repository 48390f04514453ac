import FeathersSupport

/// One request of a transfer and its response, in a client of your own (see ``HTTPTransfer/execute(_:)``).
public struct HTTPExchange: Sendable {
    /// The request to send, with the URL and the method that redirects have led to. Its own body is nil.
    public let request: HTTPRequest
    /// The body to send, piece by piece; nil if there is none. It can be read once.
    public let body: AsyncThrowingStream<[UInt8], any Error>?
    /// The number of bytes of ``body``; nil if that is unknown in advance.
    public let bodySize: Int64?
    private let reception: Reception

    init(_ request: HTTPRequest, _ streams: HTTPStreams) throws(HTTPClientError) {
        let sender = try streams.body.map { (body) throws(HTTPClientError) in try BodySender(body) }
        let reception = Reception(streams, size: sender?.size)
        (self.request, self.reception, bodySize) = (request, reception, sender?.size)
        body = sender.map { sender in
            AsyncThrowingStream {
                let piece = try await sender.next()
                if let piece { reception.sent(piece.count) }
                return piece
            }
        }
    }

    /// Passes on the head of the response. Call it before ``receive(_:)``.
    /// - Parameters:
    ///   - head: The status and the header fields, without a body.
    ///   - size: The number of bytes of the response's body; nil if it is unknown or the body is compressed.
    public func receiveHead(_ head: HTTPResponse, size: Int64? = nil) { reception.begin(head, size) }

    /// Passes on a piece of the response's body, after decompression, and returns once another one may follow.
    /// - Throws: ``HTTPClientError`` if the response becomes too large or a file can't be written, or
    ///   `CancellationError`.
    public func receive(_ bytes: [UInt8]) async throws { try await reception.append(bytes) }

    /// The response; nil before its head.
    var receivedResponse: HTTPResponse? { reception.state.withLock { $0.response } }
}

extension HTTPTransfer {
    /// Creates the transfer of a request and its body. The response's body is held in memory.
    public init(_ request: HTTPRequest) { self.init(request, body: request.body.map { HTTPBody($0) }) }

    /// Executes this transfer over a client of your own: follows redirects as the request allows, ends it at the
    /// request's timeout, and puts the response's body where it belongs.
    ///
    /// Your client's own `execute(_:)` for transfers needs no more than a call of this method.
    /// - Parameter exchange: A closure that sends one request, and returns when its response is complete. It follows no
    ///   redirects, ends soon after its task is cancelled, and throws an `HTTPClientError` if the exchange fails.
    /// - Throws: The errors of the closure, `HTTPClientError`, or `CancellationError` if the task was cancelled.
    public func execute(_ exchange: @escaping @Sendable (HTTPExchange) async throws -> Void) async throws
        -> HTTPResponse
    {
        try await following { request, streams, deadline in
            try Task.checkCancellation()
            try request.checkSendable()
            let attempt = try HTTPExchange(request, streams)
            let host = request.url.hostAndPort
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await exchange(attempt) }
                    if let deadline {
                        group.addTask {
                            try await Task.sleep(until: deadline, clock: .continuous)
                            throw HTTPClientError(.timeout, "The request timed out", host: host)
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
            guard let response = attempt.receivedResponse else {
                throw HTTPClientError(.badResponse, "The HTTP client returned without a response", host: host)
            }
            return response
        }
    }
}

extension StreamingHTTPClient {
    /// Executes a request as a transfer.
    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await execute(HTTPTransfer(request))
    }
}

/// Reads the body of a request for a sender that asks for pieces.
private actor BodySender {
    nonisolated let size: Int64?
    private let reader: HTTPBodyReader

    init(_ body: HTTPBody) throws(HTTPClientError) {
        let reader = try HTTPBodyReader(body)
        size = reader.count
        self.reader = reader
    }

    /// Returns the next piece; nil at the end.
    func next() async throws -> [UInt8]? {
        while true {
            let arrival = Promise<Void>()
            var isWaiting = false
            let piece = try [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                let read = try reader.read(into: UnsafeMutableRawBufferPointer(buffer)) { arrival.resolve(()) }
                (count, isWaiting) = (read ?? 0, read == nil)
            }
            if !isWaiting { return piece.isEmpty ? nil : piece }
            try await arrival.value()
        }
    }
}

/// Takes a response, and passes its body on to the pipe or the file of a transfer, or keeps it.
private final class Reception: Sendable {
    struct State: Sendable {
        var response: HTTPResponse?
        /// Resolved when the pipe has room again.
        var room = Promise<Void>()
        var progress: TransferProgress
    }

    let state: Locked<State>
    private let streams: HTTPStreams

    init(_ streams: HTTPStreams, size: Int64?) {
        self.streams = streams
        state = Locked(State(progress: TransferProgress(totalToSend: size ?? 0)))
    }

    func begin(_ head: HTTPResponse, _ size: Int64?) {
        var head = head
        head.body = []
        if head.isSuccess {
            streams.transfer.pipe?.open(head) { [weak self] in self?.state.withLock { $0.room }.resolve(()) }
        }
        change { ($0.response, $0.progress.totalToReceive) = (head, size) }
    }

    func sent(_ count: Int) { change { $0.progress.sent += Int64(count) } }

    func append(_ bytes: [UInt8]) async throws {
        try Task.checkCancellation()
        let transfer = streams.transfer
        let room = Promise<Void>()
        let isSuccess = state.withLock { state in
            state.room = room
            return state.response?.isSuccess ?? false
        }
        if isSuccess, let pipe = transfer.pipe {
            if bytes.withUnsafeBytes({ pipe.write($0) }) { try await room.value() }
        } else if isSuccess, let download = streams.download {
            try bytes.withUnsafeBytes { try download.write($0) }
        } else {
            let limit = transfer.request.maximumResponseBytes
            let isTooLarge = state.withLock { state in
                state.response?.body += bytes
                return (state.response?.body.count ?? 0) > limit
            }
            if isTooLarge {
                throw HTTPClientError(
                    .responseTooLarge, "The response is larger than \(limit) bytes",
                    host: transfer.request.url.hostAndPort)
            }
        }
        change { $0.progress.received += Int64(bytes.count) }
    }

    private func change(_ body: (inout State) -> Void) {
        let progress = state.withLock { state in
            body(&state)
            return state.progress
        }
        streams.transfer.progress?(progress)
    }
}

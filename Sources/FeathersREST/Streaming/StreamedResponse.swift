import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

extension RESTTransport {
    /// Sends a request whose result may be streamed, and returns when the response begins. The timeout limits the wait
    /// for the response, and later every pause between two pieces of it.
    func stream(_ httpRequest: HTTPRequest, for request: ServiceRequest) async throws -> ServiceResponse {
        var httpRequest = httpRequest
        let stallTimeout = httpRequest.timeout ?? builder.timeout
        httpRequest.timeout = nil
        let pipe = HTTPBodyPipe()
        var transfer = HTTPTransfer(
            httpRequest, body: httpRequest.body.map { HTTPBody($0) }, pipe: pipe, stallTimeout: stallTimeout)
        if let upload = request.params.uploadContent {
            transfer = try upload.transfer(of: httpRequest, stallTimeout: stallTimeout)
            transfer.pipe = pipe
        }
        let exchange = StreamedExchange.begin(transfer, over: httpClient)
        do {
            let head = try await pipe.head()
            guard head.isSuccess else { throw RESTResponse.error(of: head, requestedAt: httpRequest.url) }
            guard head.isEventStream else {
                // The service does not stream its result.
                var whole = head
                while let piece = try await pipe.next() {
                    guard whole.body.count + piece.count <= httpRequest.maximumResponseBytes else {
                        throw HTTPClientError(
                            .responseTooLarge, "The response is larger than \(httpRequest.maximumResponseBytes) bytes")
                    }
                    whole.body += piece
                }
                return try RESTResponse.response(of: whole, to: request, requestedAt: httpRequest.url)
            }
            let items = StreamedItems(exchange, pipe, limit: maximumEventBytes)
            var response = ServiceResponse(.null)
            response[HTTPHead.self] = HTTPHead(head)
            response[ResultStream.self] = ResultStream { try await items.next() }
            return response
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
    }
}

/// The exchange of a streamed response. It ends with this object.
final class StreamedExchange: Sendable {
    private let task: Task<Void, Never>

    private init(_ task: Task<Void, Never>) { self.task = task }

    /// - Parameter sender: The sign-in whose end also ends the response; nil if the response belongs to no user.
    static func begin(_ transfer: HTTPTransfer, over client: any HTTPClient, until sender: RequestSender? = nil)
        -> StreamedExchange
    {
        // The reader of the pipe gets the error.
        StreamedExchange(
            Task.beginning {
                guard let sender else {
                    _ = try? await client.stream(transfer)
                    return
                }
                try? await racing {
                    _ = try await client.stream(transfer)
                } against: {
                    _ = try await transfer.pipe?.head()
                    try await sender.ended()
                    transfer.pipe?.end(.failure(CancellationError()))
                    return .success(())
                }
            })
    }

    deinit { task.cancel() }
}

/// Reads the items of an event stream without copying their data first.
struct EventStreamItems<Item: Sendable>: Sendable {
    private(set) var parser: EventStreamParser
    /// The reason why no more items can be read; nil while they can.
    private(set) var failure: FeathersError?
    private let limit: Int
    private let decode: Decode

    typealias Decode = @Sendable (UnsafeBufferPointer<UInt8>, String) throws(FeathersError) -> Item?

    /// - Parameters:
    ///   - limit: The maximum size of a line, and of an event, in bytes.
    ///   - decode: Creates the item of an event from its data and name; returns nil if it has none.
    init(limit: Int, decode: @escaping Decode) {
        (self.limit, self.decode) = (limit, decode)
        parser = EventStreamParser(limits: .init(line: limit, event: limit))
    }

    /// Starts over with another stream.
    /// - Parameter lastEventID: The ID that an earlier stream has set.
    mutating func restart(lastEventID: String = "") {
        (parser, failure) = (EventStreamParser(limits: .init(line: limit, event: limit), lastEventID: lastEventID), nil)
    }

    /// Returns the items of a piece, up to the first that cannot be read. Throw ``failure`` after them.
    mutating func read(_ piece: [UInt8]) -> [Item] {
        var items: [Item] = []
        do {
            try piece.withUnsafeBufferPointer { piece in
                try parser.readInPlace(UnsafeRawBufferPointer(piece)) { data, name, _ in
                    if let item = try decode(data, name) { items.append(item) }
                }
            }
        } catch {
            failure = error as? FeathersError ?? FeathersError(.generalError, "\(error)", execution: .answered)
        }
        return items
    }
}

/// Reads the items of a streamed result.
private final class StreamedItems: Sendable {
    private let exchange: StreamedExchange
    private let pipe: HTTPBodyPipe
    private let items: Locked<EventStreamItems<JSONValue>>

    init(_ exchange: StreamedExchange, _ pipe: HTTPBodyPipe, limit: Int) {
        (self.exchange, self.pipe) = (exchange, pipe)
        items = Locked(
            EventStreamItems(limit: limit) { data, _ throws(FeathersError) in
                // FeathersJS' own client ignores events without data too.
                if data.isEmpty { return nil }
                do {
                    return try JSONValue(parsingLossily: data)
                } catch {
                    throw FeathersError(
                        .generalError, "An item of the streamed result is not valid JSON", execution: .answered,
                        cause: error)
                }
            })
    }

    /// Returns the next items; nil at the end of a complete response.
    /// - Throws: ``FeathersError`` if the connection was lost, or for an item that isn't JSON; `CancellationError`.
    func next() async throws -> [JSONValue]? {
        while true {
            if let failure = items.withLock({ $0.failure }) { throw failure }
            let piece: [UInt8]?
            do {
                piece = try await pipe.next()
            } catch let error as HTTPClientError {
                throw FeathersError(error)
            }
            guard let piece else { return nil }
            let read = items.withLock { $0.read(piece) }
            if !read.isEmpty { return read }
        }
    }
}

extension HTTPResponse {
    /// Returns the error of a stream whose request was redirected to another origin, which could send anything; nil for
    /// any other stream.
    /// - Parameter url: The URL of the first request.
    func foreignStream(requestedAt url: URL) -> FeathersError? {
        guard let origin = Origin(url), let actual = Origin(self.url), origin != actual else { return nil }
        return FeathersError(
            .badGateway,
            "The server redirected the event stream from \(origin) to \(actual), whose events are not read",
            execution: .answered)
    }

    /// Whether the type is `text/event-stream`, in any case and with any parameters.
    var isEventStream: Bool {
        guard let type = headers["Content-Type"] else { return false }
        // The usual spelling: parsing media types took a tenth of the time of a streamed call.
        return type == "text/event-stream" || MediaType(type)?.isAccepted(by: "text/event-stream") == true
    }
}

extension JSONValue {
    /// Parses the data of an event. Malformed UTF-8 counts as U+FFFD, as event streams require. If several lines
    /// together are not JSON, only the first line is parsed, because FeathersJS' own client reads no other.
    init(parsingLossily data: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) {
        do {
            try self.init(parsing: data)
        } catch {
            let first = data.prefix { $0 != UInt8(ascii: "\n") }
            let repaired = Array(String(decoding: first, as: UTF8.self).utf8)
            guard !repaired.elementsEqual(data) else { throw error }
            try self.init(parsing: repaired)
        }
    }
}

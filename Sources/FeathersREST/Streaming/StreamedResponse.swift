import FeathersCore
import FeathersNetworking
import FeathersSupport

extension RESTTransport {
    /// Sends a request whose result may be streamed, and returns when the response begins. The timeout limits the wait for the response, and later
    /// every pause between two pieces of it.
    func stream(_ httpRequest: HTTPRequest, for request: ServiceRequest) async throws -> ServiceResponse {
        var httpRequest = httpRequest
        let stallTimeout = httpRequest.timeout ?? builder.timeout
        httpRequest.timeout = nil
        let pipe = HTTPBodyPipe()
        var transfer = HTTPTransfer(httpRequest, body: httpRequest.body.map { HTTPBody($0) }, pipe: pipe, stallTimeout: stallTimeout)
        if let upload = request.params.upload {
            transfer = try upload.transfer(of: httpRequest, stallTimeout: stallTimeout)
            transfer.pipe = pipe
        }
        let exchange = StreamedExchange.begin(transfer, over: httpClient)
        do {
            let head = try await pipe.head()
            guard head.isSuccess else { throw RESTAnswer.error(of: head) }
            guard head.isEventStream else {
                // The service returns its result at once.
                var whole = head
                while let piece = try await pipe.next() {
                    guard whole.body.count + piece.count <= httpRequest.maximumResponseBytes else {
                        throw HTTPClientError(.responseTooLarge, "The response is larger than \(httpRequest.maximumResponseBytes) bytes")
                    }
                    whole.body += piece
                }
                return try RESTAnswer.response(of: whole, to: request)
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

    static func begin(_ transfer: HTTPTransfer, over client: any HTTPClient) -> StreamedExchange {
        // The reader of the pipe gets the error.
        StreamedExchange(Task { @concurrent in _ = try? await client.stream(transfer) })
    }

    deinit { task.cancel() }
}

/// Reads the items of a streamed result.
private final class StreamedItems: Sendable {
    private struct State {
        var parser: EventStreamParser
        var failure: FeathersError?

        /// Returns the items before the first one that cannot be read, which is thrown after them.
        mutating func items(of piece: [UInt8]) -> [JSONValue] {
            var items: [JSONValue] = []
            do {
                // FeathersJS' own client ignores events without data too.
                try piece.withUnsafeBytes { piece in
                    try parser.readInPlace(piece) { data, _, _ in if !data.isEmpty { items.append(try JSONValue(parsingLossily: data)) } }
                }
            } catch let error as EventStreamParser.Overflow {
                failure = FeathersError(.generalError, error.description, execution: .answered)
            } catch {
                failure = FeathersError(
                    .generalError, "An item of the streamed result is not valid JSON", execution: .answered, cause: error)
            }
            return items
        }
    }

    private let exchange: StreamedExchange
    private let pipe: HTTPBodyPipe
    private let state: Locked<State>

    init(_ exchange: StreamedExchange, _ pipe: HTTPBodyPipe, limit: Int) {
        (self.exchange, self.pipe) = (exchange, pipe)
        state = Locked(State(parser: EventStreamParser(limits: .init(line: limit, event: limit))))
    }

    /// Returns the next items; nil at the end of a complete response.
    /// - Throws: ``FeathersError`` if the connection was lost, or for an item that isn't JSON; `CancellationError`.
    func next() async throws -> [JSONValue]? {
        while true {
            if let failure = state.withLock({ $0.failure }) { throw failure }
            let piece: [UInt8]?
            do {
                piece = try await pipe.next()
            } catch let error as HTTPClientError {
                throw FeathersError(error)
            }
            guard let piece else { return nil }
            let items = state.withLock { $0.items(of: piece) }
            if !items.isEmpty { return items }
        }
    }
}

extension HTTPResponse {
    /// Whether the type is `text/event-stream`, in any case and with any parameters.
    var isEventStream: Bool { headers["Content-Type"].flatMap { MediaType($0) }?.isAccepted(by: "text/event-stream") ?? false }
}

extension JSONValue {
    /// Parses the data of an event. Malformed UTF-8 counts as U+FFFD, as event streams require. If several lines together are not JSON, the first
    /// line counts alone, because FeathersJS' own client reads no other.
    init(parsingLossily data: some Collection<UInt8>) throws(JSONParsingError) {
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

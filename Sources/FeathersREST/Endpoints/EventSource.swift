public import FeathersCore
import FeathersNetworking
import FeathersSupport

extension FeathersApp {
    /// Reads an endpoint that sends server-sent events, such as a route of your own on a FeathersJS 5 server.
    ///
    /// ```swift
    /// for try await note in app.eventSource("notifications", as: Note.self) { notes.append(note) }
    /// ```
    /// It behaves like a browser's `EventSource`: the connection opens with the first read. If it ends, it is opened again after the delay that the
    /// server has set with `retry:`, or 3 seconds, with the ID of the last event as `Last-Event-ID`. Each opening is a call of the app's custom
    /// method `request`, like that of an ``Endpoint``, and carries the app's token to the servers that may receive it. The stream ends when the
    /// server responds with 204. Cancelling the reader, or dropping the stream, closes the connection. After a sign-in or a log-out, a connection that
    /// carried the app's token is replaced at once, and nothing more of the previous user's is returned.
    ///
    /// The data of an event is decoded from JSON, or is the text itself for `String`.
    /// - Parameters:
    ///   - path: the path below the base URL, or an absolute URL.
    ///   - event: the type of the events.
    ///   - name: the name of the events to read (`event:`); unnamed events are `message`. Nil reads all.
    ///   - query: the query of the request.
    ///   - headers: additional header fields.
    ///   - lastEventID: the ID to send as `Last-Event-ID` with the first request, from an earlier stream.
    ///   - transport: the transport to use, as for ``request(_:over:params:)``.
    /// - Returns: a stream for one reader. It throws ``FeathersError`` if the server refuses the request or responds with anything but an event
    ///   stream, and for an event that cannot be decoded.
    public func eventSource<Event: Decodable & Sendable>(
        _ path: String, as event: Event.Type, named name: String? = nil, query: Query = Query(), headers: [String: String] = [:],
        lastEventID: String = "", over transport: RESTTransport? = nil
    ) -> AsyncThrowingStream<Event, any Error> {
        let reader = EventSourceReader(
            app: self, path: path, name: name, query: query, headers: headers, lastEventID: lastEventID, transport: transport,
            timebase: RelativeClock(ContinuousClock()))
        let codec = coding
        return AsyncThrowingStream {
            var next = reader.nextOfBatch()
            if next == nil { next = try await reader.next() }
            guard let next else { return nil }
            if Event.self == String.self || Event.self == String?.self, let text = next.text as? Event { return text }
            do {
                return try codec.decode(Event.self, from: JSONValue(parsingLossily: next.data))
            } catch {
                throw FeathersError.undecodable("An event of \(EndpointAddress.name(of: path))", as: Event.self, error)
            }
        }
    }
}

/// Reads one event source, connection by connection.
final class EventSourceReader: Sendable {
    private struct State {
        var connection: OpenedStream?
        /// The user the connection was opened as; nil if it carries no token.
        var sender: RequestSender?
        var parser: EventStreamParser
        var lastEventID: String
        var retry = Duration.seconds(3)
        /// Events that have been read but not returned, in reverse order.
        var events: [ServerSentEvent] = []
    }

    private let app: FeathersApp
    private let path: String
    private let name: String?
    private let query: Query
    private let headers: [String: String]
    private let transport: RESTTransport?
    private let timebase: RelativeClock
    private let state: Locked<State>

    init(
        app: FeathersApp, path: String, name: String?, query: Query, headers: [String: String], lastEventID: String,
        transport: RESTTransport?, timebase: RelativeClock
    ) {
        (self.app, self.path, self.name, self.query, self.headers) = (app, path, name, query, headers)
        (self.transport, self.timebase) = (transport, timebase)
        state = Locked(State(parser: Self.newParser(), lastEventID: lastEventID))
    }

    private static func newParser() -> EventStreamParser {
        EventStreamParser(limits: .init(line: TextLimit.standard, event: TextLimit.standard))
    }

    /// Returns the next of the events that have arrived; nil if there is none.
    func nextOfBatch() -> ServerSentEvent? {
        state.withLock { state in
            // Neither events nor their IDs are for the next user.
            if state.sender?.isCurrent == false {
                (state.connection, state.sender, state.events, state.lastEventID) = (nil, nil, [], "")
                state.parser = Self.newParser()
            }
            return state.events.popLast()
        }
    }

    /// Returns the next event; nil when the server has ended the source.
    func next() async throws -> ServerSentEvent? {
        while true {
            if let event = nextOfBatch() { return event }
            let (connection, sender) = state.withLock { ($0.connection, $0.sender) }
            do {
                guard let connection else {
                    guard try await open() else { return nil }
                    continue
                }
                switch try await arrival(on: connection, of: sender) {
                case .userChanged: continue
                case .piece(let piece): try read(piece)
                case .end: try await disconnected()
                }
            } catch let error as HTTPClientError {
                if error.kind == .closed { throw FeathersError(error) }
                try await disconnected()
            } catch let error as FeathersError where error.isTemporary {
                try await disconnected()
            } catch let error as EventStreamParser.Overflow {
                throw FeathersError(.generalError, error.description, execution: .answered)
            }
        }
    }

    private enum Arrival: Sendable {
        case piece([UInt8]), end, userChanged
    }

    /// Waits for a piece, for the end of the connection, or for a change of the user who opened it.
    private func arrival(on connection: OpenedStream, of sender: RequestSender?) async throws -> Arrival {
        guard let sender else { return try await connection.pipe.next().map(Arrival.piece) ?? .end }
        let updates = app.identityUpdates()
        return try await racing {
            try await connection.pipe.next().map(Arrival.piece) ?? .end
        } against: {
            for await _ in updates where !sender.isCurrent { return .success(.userChanged) }
            throw CancellationError()
        }
    }

    private func read(_ piece: [UInt8]) throws {
        try state.withLock { state in
            var events: [ServerSentEvent] = []
            try state.parser.read(piece) { event in
                if name == nil || name == (event.name.isEmpty ? "message" : event.name) { events.append(event) }
            }
            state.lastEventID = state.parser.lastEventID
            state.retry = state.parser.retry ?? state.retry
            state.events = events.reversed()
        }
    }

    /// Waits as long as the server wants before the next connection.
    private func disconnected() async throws {
        let retry = state.withLock { state in
            (state.connection, state.parser) = (nil, Self.newParser())
            return state.retry
        }
        try await timebase.sleep(for: retry)
    }

    /// - Returns: Whether there is a connection; false after 204.
    private func open() async throws -> Bool {
        guard let transport = transport ?? app.transport?.component(RESTTransport.self) ?? app.endpointTransport else {
            throw FeathersError.refused(
                "The event source requires a REST transport, and the app has none: set 'endpointTransport', or pass one as 'over:'")
        }
        var fields = headers
        fields["Accept"] = "text/event-stream"
        fields["Cache-Control"] = "no-store"
        // A stored user counts as the current one before the request is sent.
        _ = await app.resolvedIdentity()
        let sender = app.currentSender
        let lastEventID = state.withLock { $0.lastEventID }
        if !lastEventID.isEmpty { fields["Last-Event-ID"] = lastEventID }
        let endpoint = Endpoint<EmptyResponse>(.get, path, query: query, headers: fields)
        var params = endpoint.params(with: Params())
        let builder = try EndpointRequestBuilder(endpoint, transport.builder, params) { app.trusts($0) }
        params.carriesCredentials = builder.carriesCredentials
        params[EndpointCallKey.self] = EndpointCall(method: .get, carriesCredentials: builder.carriesCredentials)
        let request = ServiceRequest(path: EndpointAddress.name(of: path), method: .endpointRequest, params: params)
        let service = EventSourceService(builder: builder, transport: transport, timebase: timebase)
        let response = try await app.using(transport) { try await app.respond(to: request, by: service) }
        guard let opened = response[OpenedStream.self] else { return false }
        state.withLock { state in
            (state.connection, state.sender) = (opened, builder.carriesCredentials ? sender : nil)
            // A stream without IDs must not forget the last one.
            state.parser = EventStreamParser(
                limits: .init(line: TextLimit.standard, event: TextLimit.standard), lastEventID: state.lastEventID)
        }
        return true
    }
}

/// Opens one connection of an event source.
private struct EventSourceService: ServiceProtocol {
    let builder: EndpointRequestBuilder<EmptyResponse>
    let transport: RESTTransport
    let timebase: RelativeClock

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let (httpRequest, _) = try builder.request(data: nil, params: request.params)
        let pipe = HTTPBodyPipe()
        let exchange = StreamedExchange.begin(HTTPTransfer(httpRequest, pipe: pipe, keepAlive: .seconds(15)), over: transport.httpClient)
        do {
            let head = try await timebase.run(
                atMost: transport.builder.timeout,
                orThrow: HTTPClientError(.timeout, "The request timed out", host: httpRequest.url.hostAndPort)
            ) { try await pipe.head() }
            guard head.isSuccess else { throw RESTAnswer.error(of: head) }
            var response = ServiceResponse(.null)
            response[HTTPHead.self] = HTTPHead(head)
            if head.status == 204 { return response }
            guard head.isEventStream else {
                let type = head.headers["Content-Type"]?.prefix(80) ?? "nothing"
                throw FeathersError(
                    .badGateway, "The server responded with '\(type)' instead of an event stream at \(head.url.withoutCredentials)",
                    execution: .answered)
            }
            response[OpenedStream.self] = OpenedStream(exchange: exchange, pipe: pipe)
            return response
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
    }
}

/// An open event stream. Releasing it closes the connection.
private struct OpenedStream: ResponseKey, Sendable {
    typealias Value = OpenedStream

    let exchange: StreamedExchange
    let pipe: HTTPBodyPipe
}

extension FeathersError {
    /// Whether another connection may succeed.
    fileprivate var isTemporary: Bool {
        if (cause as? HTTPClientError)?.kind == .closed { return false }
        guard execution == .answered else { return code == .unavailable || code == .timeout }
        return [408, 425, 429, 500, 503, 504].contains(code.rawValue)
    }
}

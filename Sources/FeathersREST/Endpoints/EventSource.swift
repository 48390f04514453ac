public import FeathersCore
import FeathersNetworking
import FeathersSupport

extension FeathersApp {
    /// Reads an endpoint that sends server-sent events, such as a route of your own on a FeathersJS 5 server.
    ///
    /// ```swift
    /// for try await note in app.eventSource("notifications", as: Note.self) {
    ///     notes.append(note)
    /// }
    /// ```
    /// It behaves like a browser's `EventSource`. The connection opens with the first read. If it ends, it reopens
    /// after the delay that the server has set with `retry:`, or after 3 seconds, and sends the ID of the last event as
    /// `Last-Event-ID`. A delay is never shorter than that of a default ``ReconnectionPolicy``: at most a second after
    /// a connection that has delivered an event, growing to 5 seconds while connections deliver nothing. IDs that
    /// contain control characters or more than 4096 bytes are ignored, just as the HTML standard ignores IDs with NUL.
    ///
    /// Every connection attempt is a call of the app's custom method `request`, like that of an ``Endpoint``, and
    /// carries the app's token to the servers that may receive it. The stream ends when the server responds with 204.
    /// Cancelling the reader, or dropping the stream, closes the connection. After a log-out or a sign-in, a connection
    /// that carried the app's token is replaced immediately, and no events of another user are returned.
    ///
    /// A connection may be silent for any length of time. If its peer disappears without closing it, libcurl notices,
    /// but `URLSession` does not.
    ///
    /// The data of an event is decoded from JSON, or is the text itself for `String`.
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - event: The type of the events.
    ///   - name: The name of the events to read (`event:`); unnamed events are `message`. Nil reads all.
    ///   - query: The query of the request.
    ///   - headers: Additional header fields.
    ///   - lastEventID: The ID to send as `Last-Event-ID` with the first request, from an earlier stream.
    ///   - transport: The transport to use, as for ``request(_:over:params:)``.
    /// - Returns: A stream for one reader. It throws ``FeathersError`` if the server refuses the request, redirects it
    ///   to another origin, or responds with anything but an event stream. It also throws for an event that cannot be
    ///   decoded, after which the next event can be read.
    public func eventSource<Event: Decodable & Sendable>(
        _ path: String, as event: Event.Type, named name: String? = nil, query: Query<JSONValue> = Query(),
        headers: [String: String] = [:],
        lastEventID: String = "", over transport: RESTTransport? = nil
    ) -> AsyncThrowingStream<Event, any Error> {
        eventSource(
            path, as: event, named: name, query: query, headers: headers, lastEventID: lastEventID, over: transport,
            clock: ContinuousClock())
    }

    /// - Parameter clock: The clock for the delays.
    func eventSource<Event: Decodable & Sendable>(
        _ path: String, as event: Event.Type, named name: String? = nil, query: Query<JSONValue> = Query(),
        headers: [String: String] = [:],
        lastEventID: String = "", over transport: RESTTransport? = nil, clock: any Clock<Duration>
    ) -> AsyncThrowingStream<Event, any Error> {
        let codec = coding
        let isText = event == String.self || event == String?.self
        let reader = EventSourceReader(
            app: self, path: path, query: query, headers: headers, lastEventID: lastEventID, transport: transport,
            timebase: RelativeClock(clock)
        ) { data, eventName in
            guard name == nil || name == (eventName.isEmpty ? "message" : eventName) else { return nil }
            if isText { return .success(.string(String(decoding: data, as: UTF8.self))) }
            do {
                return .success(try JSONValue(parsingLossily: data))
            } catch {
                return .failure(
                    FeathersError.undecodable("An event of \(EndpointAddress.name(of: path))", as: event, error))
            }
        }
        // Casts the stream once instead of each event.
        if event == JSONValue.self, let stream = reader.stream({ $0 }) as? AsyncThrowingStream<Event, any Error> {
            return stream
        }
        return reader.stream { json in
            if isText, let text = json.string as? Event { return text }
            do {
                return try codec.decode(event, from: json)
            } catch {
                throw FeathersError.undecodable("An event of \(EndpointAddress.name(of: path))", as: event, error)
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
        var items: EventStreamItems<Arrived>
        var lastEventID: String
        var retry = Duration.seconds(3)
        /// The minimum delays between connections. The server can only lengthen them.
        var backoff = Backoff(policy: ReconnectionPolicy())
        /// Events that have been read but not returned, in reverse order.
        var batch: [Arrived] = []
        /// Whether the reader has received an error after which nothing more can be read.
        var hasFailed = false
    }

    /// The data of an event, or the reason why it could not be read. Such an error does not end the stream.
    typealias Arrived = Result<JSONValue, any Error>

    private let app: FeathersApp
    private let path: String
    private let query: Query<JSONValue>
    private let headers: [String: String]
    private let transport: RESTTransport?
    private let timebase: RelativeClock
    /// Params with the token in whose scope the stream was created, if any.
    private let scoped: Params
    private let scope: UserScope?
    private let state: Locked<State>

    /// - Parameter decode: Returns the data of an event with these bytes and this name, or nil to skip the event.
    init(
        app: FeathersApp, path: String, query: Query<JSONValue>, headers: [String: String], lastEventID: String,
        transport: RESTTransport?,
        timebase: RelativeClock, decode: @escaping EventStreamItems<Arrived>.Decode
    ) {
        (self.app, self.path, self.query, self.headers) = (app, path, query, headers)
        (self.transport, self.timebase) = (transport, timebase)
        scoped = Params(headers: headers).withScopedToken(of: app)
        scope = UserScope.current
        state = Locked(
            State(items: EventStreamItems(limit: TextLimit.standard, decode: decode), lastEventID: lastEventID))
    }

    /// Returns a stream of the events, each converted by `decode`.
    func stream<Event: Sendable>(_ decode: @escaping @Sendable (JSONValue) throws -> Event) -> AsyncThrowingStream<
        Event, any Error
    > {
        AsyncThrowingStream {
            if let event = self.nextOfBatch() { return try decode(event.get()) }
            return try await self.next().map { try decode($0.get()) }
        }
    }

    /// Returns the next event that has already arrived, or nil if there isn't one.
    private func nextOfBatch() -> Arrived? {
        state.withLock { (followUser(&$0), $0.batch.popLast()) }.1
    }

    /// Gives up the connection of a sign-in that has ended.
    /// - Returns: The connection, which is to be closed outside of the lock.
    private func followUser(_ state: inout State) -> OpenedStream? {
        guard let sender = state.sender, !sender.isCurrent else { return nil }
        let current = app.currentSender
        defer { state.connection = nil }
        if current.identity == sender.identity {
            state.sender = current
        } else {
            // The next user must receive neither these events nor their IDs.
            (state.sender, state.batch, state.lastEventID) = (nil, [], "")
        }
        state.items.restart()
        return state.connection
    }

    /// Returns the next event; nil when the server has ended the source.
    private func next() async throws -> Arrived? {
        while true {
            if let event = nextOfBatch() { return event }
            let (connection, sender, failure, hasFailed) = state.withLock { state in
                defer { if state.items.failure != nil { (state.connection, state.hasFailed) = (nil, true) } }
                return (state.connection, state.sender, state.items.failure, state.hasFailed)
            }
            if hasFailed { return nil }
            if let failure { throw failure }
            do {
                guard let connection else {
                    guard try await open() else { return nil }
                    continue
                }
                if let piece = try await connection.pipe.next() { read(piece) } else { try await disconnected() }
            } catch let error as HTTPClientError {
                if error.kind == .closed { throw FeathersError(error) }
                try await disconnected()
            } catch let error as FeathersError where error.mayPass && !app.rejectsCalls {
                try await disconnected()
            } catch is CancellationError where sender?.isCurrent == false {
                // A change of user ended the connection, but not the stream.
                try Task.checkCancellation()
            }
        }
    }

    private func read(_ piece: [UInt8]) {
        state.withLock { state in
            state.batch = state.items.read(piece)
            state.batch.withUnsafeMutableBufferPointer { $0.reverse() }
            if !state.batch.isEmpty { state.backoff = Backoff(policy: ReconnectionPolicy()) }
            state.lastEventID = state.items.parser.lastEventID
            state.retry = state.items.parser.retry ?? state.retry
        }
    }

    /// Waits for the delay that the server has set, but at least as long as the backoff requires.
    private func disconnected() async throws {
        let delay = state.withLock { state in
            state.connection = nil
            state.items.restart()
            let decision = state.backoff.ended(.transportClose, now: timebase.now, random: .random(in: 0..<1))
            return if case .wait(_, let delay) = decision { max(delay, state.retry) } else { state.retry }
        }
        try await racing {
            try await self.timebase.sleep(for: delay)
        } against: {
            try await self.app.shutDownBegan()
            return .success(())
        }
    }

    /// - Returns: Whether there is a connection; false after 204.
    private func open() async throws -> Bool {
        guard let transport = transport ?? app.transport?.component(RESTTransport.self) ?? app.endpointTransport else {
            throw FeathersError.refused(
                "The event source requires a REST transport, and the app has none: "
                    + "set 'endpointTransport', or pass one as 'over:'")
        }
        var fields = headers
        fields["Accept"] = "text/event-stream"
        fields["Cache-Control"] = "no-store"
        // A stored user counts as the current one before the request is sent.
        _ = await app.resolvedIdentity()
        // Read together, so that the ID belongs to the user who sends it.
        let (_, sender, lastEventID) = state.withLock {
            (followUser(&$0), $0.sender ?? app.currentSender, $0.lastEventID)
        }
        if !lastEventID.isEmpty { fields["Last-Event-ID"] = lastEventID }
        let endpoint = Endpoint<EmptyResponse>(.get, path, query: query, headers: fields)
        var params = endpoint.params(with: scoped)
        let builder = try EndpointRequestBuilder(endpoint, transport.builder, params) { app.trusts($0) }
        params.carriesCredentials = builder.carriesCredentials
        params[EndpointCallKey.self] = EndpointCall(method: .get, carriesCredentials: builder.carriesCredentials)
        let request = ServiceRequest(path: EndpointAddress.name(of: path), method: .endpointRequest, params: params)
        let opener = builder.carriesCredentials && scoped.token == nil ? sender : nil
        let service = EventSourceResponder(builder: builder, transport: transport, timebase: timebase, sender: opener)
        let hold = app.holdTransport(transport)
        let response = try await UserScope.run(in: scope) { try await app.respond(to: request, by: service) }
        guard var opened = response[OpenedStream.self] else { return false }
        opened.hold = hold
        state.withLock { state in
            (state.connection, state.sender) = (opened, opener)
            state.backoff.connected(now: timebase.now)
            // A stream without IDs must not forget the last one.
            state.items.restart(lastEventID: state.lastEventID)
        }
        return true
    }
}

/// Opens one connection of an event source.
private struct EventSourceResponder: Responder {
    let builder: EndpointRequestBuilder<EmptyResponse>
    let transport: RESTTransport
    let timebase: RelativeClock
    /// The sign-in whose end closes the connection; nil if the connection belongs to no user.
    let sender: RequestSender?

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let (httpRequest, _) = try builder.request(data: nil, params: request.params)
        let pipe = HTTPBodyPipe()
        let exchange = StreamedExchange.begin(
            HTTPTransfer(httpRequest, pipe: pipe, keepAlive: .seconds(15)), over: transport.httpClient, until: sender)
        do {
            let head = try await timebase.run(
                atMost: transport.builder.timeout,
                orThrow: HTTPClientError(.timeout, "The request timed out", host: httpRequest.url.hostAndPort)
            ) { try await pipe.head() }
            if head.status == 401, let error = head.refusalWithoutFields(requestedAt: httpRequest.url) { throw error }
            guard head.isSuccess else { throw RESTResponse.error(of: head) }
            var response = ServiceResponse(.null)
            response[HTTPHead.self] = HTTPHead(head)
            if head.status == 204 { return response }
            if let error = head.foreignStream(requestedAt: httpRequest.url) { throw error }
            guard head.isEventStream else {
                let type = head.headers["Content-Type"]?.prefix(80) ?? "nothing"
                throw FeathersError(
                    .badGateway,
                    "The server responded with '\(type)' instead of an event stream at \(head.url.withoutCredentials)",
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
    /// Lets the stream end with the app.
    var hold: TransportHold?
}

extension FeathersError {
    /// Whether another connection may succeed.
    fileprivate var mayPass: Bool {
        if (cause as? HTTPClientError)?.kind == .closed { return false }
        guard execution == .answered else { return code == .unavailable || code == .timeout }
        return [408, 425, 429, 500, 503, 504].contains(code.rawValue)
    }
}

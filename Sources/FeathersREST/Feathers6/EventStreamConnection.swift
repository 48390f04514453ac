import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

// One event stream, from the header fields that open it to its end.
extension EventStreamClient {
    /// Makes one attempt to open the stream. If it succeeds, returns when the stream ends.
    /// - Returns: The end, and when the stream was opened; nil if it never was.
    func connectOnce() async -> (end: StreamEnd, openedAt: Duration?) {
        let attempt = Attempt(activity: timebase.now)
        state.withLock { $0.current = attempt.ended }
        defer { state.withLock { $0.current = nil } }
        // A stop before the registration found no attempt to end.
        if isStopped { return (.byClient, nil) }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { attempt.ended.resolve(await self.openAndRead(attempt)) }
            group.addTask { await self.watch(attempt) }
            defer { group.cancelAll() }
            do {
                return (try await attempt.ended.value(), attempt.opened.current)
            } catch {
                return (.byClient, attempt.opened.current)
            }
        }
    }

    /// An attempt to open a stream, and the stream.
    private final class Attempt: Sendable {
        let ended = Promise<StreamEnd>()
        /// Resolved with the time of the first event.
        let opened = Promise<Duration>()
        /// When bytes last arrived.
        let activity: Locked<Duration>

        init(activity: Duration) { self.activity = Locked(activity) }
    }

    /// Ends an attempt that takes too long, and a stream that has been silent for too long.
    private func watch(_ attempt: Attempt) async {
        let limit = options.connectTimeout
        let start = attempt.activity.withLock { $0 }
        do {
            try await racing {
                _ = try await attempt.opened.value()
            } against: {
                try await self.timebase.sleep(until: start + limit)
                return .success(())
            }
            guard attempt.opened.isSettled else {
                let message = "The event stream did not begin within \(limit)"
                attempt.ended.resolve(
                    StreamEnd(
                        .transportError(message), message,
                        error: FeathersError(.timeout, message, execution: .neverSent)))
                return
            }
            guard let silenceLimit = options.silenceLimit else { return }
            while true {
                let deadline = attempt.activity.withLock { $0 } + silenceLimit
                if deadline <= timebase.now {
                    attempt.ended.resolve(StreamEnd(.pingTimeout, "The event stream was silent for \(silenceLimit)"))
                    return
                }
                try await timebase.sleep(until: deadline)
            }
        } catch {
            // The stream has ended.
        }
    }

    private func openAndRead(_ attempt: Attempt) async -> StreamEnd {
        let setups = state.withLock { $0.setups }
        do {
            let request = try await request(setups)
            let pipe = HTTPBodyPipe()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try? await self.httpClient.stream(HTTPTransfer(request, pipe: pipe, keepAlive: .seconds(15)))
                }
                defer { group.cancelAll() }
                try await checkHead(of: pipe, request.url)
                // Plugins' tasks run alongside the stream.
                group.addTask {
                    guard (try? await attempt.opened.value()) != nil else { return }
                    await withDiscardingTaskGroup { companions in
                        for setup in setups { companions.addTask { await setup.accompany { try await self.send($0) } } }
                    }
                }
                return try await read(pipe, attempt, setups)
            }
        } catch is CancellationError where isStopped {
            return .byClient
        } catch let end as Refusal {
            return end.end
        } catch let error as HTTPClientError {
            return StreamEnd(.transportError(error.message), "", error: FeathersError(error))
        } catch let error as EventStreamParser.Overflow {
            return StreamEnd(.parseError(error.description), "The event stream could not be read: \(error.description)")
        } catch let error as FeathersError {
            return StreamEnd(.transportError(error.message), "", error: error)
        } catch {
            // Errors thrown by the application's closures may contain anything, so only the type is named.
            let message = "The header fields of the event stream could not be created (\(type(of: error)))"
            return StreamEnd(
                .transportError(message), message,
                error: FeathersError(.unavailable, message, execution: .neverSent, cause: error))
        }
    }

    /// Throws an error, because requests cannot be sent over an event stream.
    private func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError(
            .unavailable, "'\(request.method)' on service '\(request.path)' cannot be sent over an event stream")
    }

    private func request(_ setups: [ConnectionSetup]) async throws -> HTTPRequest {
        while true {
            let reopenings = state.withLock { $0.reopenings }
            var headers = HTTPHeaders()
            try headers.set("Accept", to: "text/event-stream")
            try headers.set("Cache-Control", to: "no-store")
            try headers.setFields(options.headers)
            for setup in setups { try await headers.setFields(setup.headers().filter { headers[$0.key] == nil }) }
            // The user may have changed while the fields were created.
            guard state.withLock({ $0.reopenings }) == reopenings else { continue }
            return try HTTPRequest(url: builder.url(path: options.path, query: options.query), headers: headers)
        }
    }

    /// The server's reason for not opening the stream.
    private struct Refusal: Error { let end: StreamEnd }

    private func checkHead(of pipe: HTTPBodyPipe, _ url: URL) async throws {
        let head = try await pipe.head()
        let place = url.withoutCredentials
        guard head.isSuccess else {
            var error = RESTResponse.error(of: head, requestedAt: url)
            switch head.status {
            case 408, 425, 429, 500...,
                _ where error.execution == .mayHaveExecuted:
                throw Refusal(
                    end: StreamEnd(
                        .transportError("The server responded to the event stream with status \(head.status)"), "",
                        error: error)
                )
            case 404, 405:
                let isVersion5 = error.data?["url"] != nil || error.message == "Page not found"
                error.advice =
                    isVersion5
                    ? "\(place) is a FeathersJS 5 server, which sends events over Socket.IO: "
                        + "use '.socketIO(url)' or '.mixed(realTime:rest:)'"
                    : """
                    the server has no event stream at \(place): set 'path' to that of its 'SseService'. If it is a \
                    FeathersJS 5 server, use '.socketIO(url)' or '.mixed(realTime:rest:)'
                    """
            default: error.advice = "from \(place)"
            }
            throw Refusal(
                end: StreamEnd(.refused(error.message + (error.advice.map { " (\($0))" } ?? "")), "", error: error))
        }
        let foreign = head.foreignStream(requestedAt: url)
        if let foreign, head.isEventStream {
            throw Refusal(end: StreamEnd(.refused(foreign.message), "", error: foreign))
        }
        guard head.isEventStream else {
            let type = head.headers["Content-Type"] ?? "nothing"
            let message = """
                The server responded with \(type.prefix(80)) instead of an event stream at \(place): set 'path' to \
                that of its 'SseService'. If it is a FeathersJS 5 server, use '.socketIO(url)' or \
                '.mixed(realTime:rest:)'
                """
            // A page, or another origin's response, may come from a captive portal, which soon lets requests pass.
            if foreign != nil || head.isPage { throw Refusal(end: StreamEnd(.transportError(message), message)) }
            throw Refusal(end: StreamEnd(.refused(message), "", error: FeathersError(.badGateway, message)))
        }
    }

    /// Delivers events until the stream ends. The first event is the server's greeting, after which the server sends
    /// the others. From then on, events are read and delivered on the thread that receives them, like those of a
    /// Socket.IO connection.
    private func read(_ pipe: HTTPBodyPipe, _ attempt: Attempt, _ setups: [ConnectionSetup]) async throws -> StreamEnd {
        let limits = EventStreamParser.Limits(line: options.maximumEventBytes, event: options.maximumEventBytes)
        let parser = Locked(EventStreamParser(limits: limits))
        let reader = ServiceEventReader(greetingPath: options.path)
        while let piece = try await pipe.next() {
            guard let events = try piece.withUnsafeBytes({ try events(in: $0, parser, reader, attempt) }) else {
                continue
            }
            await open(attempt, setups)
            deliver(events, attempt)
            try await pipe.forEach { piece in
                if let events = try self.events(in: piece, parser, reader, attempt) { self.deliver(events, attempt) }
            }
            break
        }
        return StreamEnd(.transportClose, "The server ended the event stream")
    }

    /// Returns the services' events in a piece of the stream; nil if it completes no event at all.
    private func events(
        in piece: UnsafeRawBufferPointer, _ parser: Locked<EventStreamParser>, _ reader: ServiceEventReader,
        _ attempt: Attempt
    ) throws -> [ServiceEvent]? {
        let now = timebase.now
        attempt.activity.withLock { $0 = now }
        let contents = try parser.withLock { parser in
            var contents: [ServiceEventReader.Content] = []
            try parser.readInPlace(piece) { data, _, _ in contents.append(reader.read(data)) }
            return contents
        }
        for content in contents where content == .unusable {
            options.onUnusableEvent?("Received an event that is not an object with 'event' and 'path'")
        }
        return contents.isEmpty ? nil : contents.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private func deliver(_ events: [ServiceEvent], _ attempt: Attempt) {
        // After the end, events may belong to another user.
        guard !events.isEmpty, !attempt.ended.isSettled else { return }
        state.withLock { $0.sink }?.receive(contentsOf: events[...])
    }

    /// Prepares a stream before its events are delivered.
    private func open(_ attempt: Attempt, _ setups: [ConnectionSetup]) async {
        let (sink, isGap) = state.withLock { state in
            defer { state.hasJoined = true }
            return (state.sink, state.hasJoined || state.hasRead)
        }
        // Reported first, so that readers that refetch after a gap miss nothing.
        if isGap { sink?.receiveGap(.reconnected) }
        for setup in setups where !Task.isCancelled { await setup.prepare { try await self.send($0) } }
        guard !attempt.ended.isSettled else { return }
        // Resolved before the status changes, so that a stream that is reported as open can no longer time out.
        attempt.opened.resolve(timebase.now)
        status.set(.connected(recovered: false))
        state.withLock { $0.run.outcome }.resolve(())
    }
}

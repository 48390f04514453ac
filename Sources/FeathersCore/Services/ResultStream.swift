import FeathersSupport

/// The items of a streamed result, as a transport or a service returns them in its response.
package struct ResultStream: ResponseKey, Sendable {
    package typealias Value = ResultStream

    /// Returns the items that have arrived, at least one; nil at the end. For one reader. Releasing the function ends the stream.
    package let next: @Sendable () async throws -> [JSONValue]?
    /// Throws if items must no longer be passed on, such as those of a read whose user has left.
    package var check: @Sendable () throws -> Void = {}

    package init(next: @escaping @Sendable () async throws -> [JSONValue]?) { self.next = next }
}

extension ServiceResponse {
    /// Creates a response whose result is a stream of items, for your own services. Callers read it with `stream(_:…)`; a plain call fails.
    ///
    /// ```swift
    /// func respond(to request: ServiceRequest) async throws -> ServiceResponse {
    ///     ServiceResponse(stream: model.tokens(for: request.data))
    /// }
    /// ```
    /// The stream is read as fast as its reader reads, and dropped when the reader stops. To be read one item at a time, create it with
    /// `AsyncThrowingStream(unfolding:)`.
    /// - Parameters:
    ///   - items: the items, each encoded as JSON.
    ///   - coding: the codec for the items.
    public init<Item: Encodable & Sendable>(stream items: AsyncThrowingStream<Item, any Error>, coding: any JSONCodec = CodingOptions()) {
        self.init(.null)
        self[ResultStream.self] = ResultStream {
            // Iterators of one stream share its elements.
            for try await item in items { return [try item as? JSONValue ?? coding.encode(item)] }
            return nil
        }
    }
}

/// A streamed result on its way from the call to its reader: at most one batch of items waits.
final class ResultChannel: Sendable {
    private struct State {
        /// The batch that the reader is reading, with the position of the next item.
        var batch: [JSONValue] = []
        var index = 0
        /// The batch that waits for the reader.
        var waiting: [JSONValue]?
        /// Settled when the reader has taken the waiting batch.
        var taken: Promise<Void>?
        /// Settled when items, or the end, have arrived.
        var arrival: Promise<Void>?
        var end: Result<Void, any Error>?
        /// Whether the result is a stream.
        var isStreamed = false
        /// Throws if the reader must not get what is waiting for it.
        var check: @Sendable () throws -> Void = {}
        /// The failure of a stream after its first item. Such a call must not be repeated.
        var failure: (any Error)?
        var hasItems = false
    }

    private let state = Locked(State())

    // MARK: The call

    /// Runs the method, and passes on the items of its result if it is a stream.
    /// - Returns: the response, with null instead of a stream.
    func run(_ endpoint: any ServiceProtocol, _ request: ServiceRequest) async throws -> ServiceResponse {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        var response = try await endpoint.respond(to: request)
        guard let stream = response[ResultStream.self] else { return response }
        response[ResultStream.self] = nil
        state.withLock { ($0.isStreamed, $0.check) = (true, stream.check) }
        do {
            while let items = try await stream.next() {
                try stream.check()
                try await pass(items)
            }
        } catch {
            state.withLock { if $0.hasItems { $0.failure = error } }
            throw error
        }
        return response
    }

    /// Ends the call. A result that is not a stream becomes one: an array of its elements, null of nothing, and any other value of itself.
    func finish(_ outcome: Result<ServiceResponse, any Error>) async {
        var end = outcome.map { _ in }
        if case .success(let response) = outcome, !state.withLock({ $0.isStreamed }), !response.result.isNull {
            do { try await pass(response.result.array ?? [response.result]) } catch { end = .failure(error) }
        }
        let arrival = state.withLock { [end] state in
            state.end = end
            defer { state.arrival = nil }
            return state.arrival
        }
        arrival?.resolve(())
    }

    private func pass(_ items: [JSONValue]) async throws {
        if items.isEmpty { return }
        while true {
            let (taken, arrival) = state.withLock { state in
                guard state.waiting == nil else {
                    let taken = state.taken ?? Promise<Void>()
                    state.taken = taken
                    return (taken as Promise<Void>?, nil as Promise<Void>?)
                }
                (state.waiting, state.hasItems) = (items, true)
                defer { state.arrival = nil }
                return (nil, state.arrival)
            }
            arrival?.resolve(())
            guard let taken else { return }
            try await taken.value()
        }
    }

    // MARK: The reader

    /// Returns the next item, waiting for it; nil at the end.
    func next() async throws -> JSONValue? {
        while true {
            let (item, isEnd, taken, arrival, check) = try state.withLock { state in
                var taken: Promise<Void>?
                if state.index == state.batch.count {
                    (state.batch, state.index) = (state.waiting ?? [], 0)
                    (taken, state.waiting, state.taken) = (state.taken, nil, nil)
                }
                if state.index < state.batch.count {
                    defer { state.index += 1 }
                    return (state.batch[state.index] as JSONValue?, false, taken, nil as Promise<Void>?, state.check)
                }
                if let end = state.end {
                    // A second read after a failure finds the end.
                    state.end = .success(())
                    try end.get()
                    return (nil, true, taken, nil, state.check)
                }
                let arrival = Promise<Void>()
                state.arrival = arrival
                return (nil, false, taken, arrival, state.check)
            }
            taken?.resolve(())
            if item != nil { try check() }
            if item != nil || isEnd { return item }
            try await arrival?.value()
        }
    }
}

/// The reader of a streamed call. The call begins with the first read and ends with this object.
final class StreamedCall: Sendable {
    private let channel = ResultChannel()
    private let task = Locked<Task<Void, Never>?>(nil)
    private let perform: @Sendable (ResultChannel) async throws -> ServiceResponse

    init(_ perform: @escaping @Sendable (ResultChannel) async throws -> ServiceResponse) { self.perform = perform }

    deinit { task.withLock { $0 }?.cancel() }

    func next() async throws -> JSONValue? {
        start()
        return try await withTaskCancellationHandler {
            try await channel.next()
        } onCancel: {
            task.withLock { $0 }?.cancel()
        }
    }

    /// Starts the call in a task that retains the channel, but not this object. It inherits the reader's priority and task-local values.
    private func start() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task { @concurrent [channel, perform] in
                do {
                    await channel.finish(.success(try await perform(channel)))
                } catch {
                    await channel.finish(.failure(error))
                }
            }
        }
    }
}

extension FeathersError {
    /// Returns the error for a plain call whose result is a stream.
    package static func streams(_ method: ServiceMethod, of path: String) -> FeathersError {
        FeathersError(
            .generalError, "'\(method)' on service '\(path)' streams its result: read it with 'stream(.\(method), …)'", execution: .answered
        )
    }

    /// The error of a stream that ended without its last item.
    static var incompleteStream: FeathersError {
        FeathersError(
            .generalError, "The stream ended before the item that 'endingWith' describes, so its result is incomplete", execution: .answered
        )
    }
}

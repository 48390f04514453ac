import FeathersSupport

/// The items of a streamed result, as a transport or a service returns them in its response.
package struct ResultStream: ResponseKey, Sendable {
    package typealias Value = ResultStream

    /// Returns the items that have arrived, at least one; nil at the end. For one reader. Releasing the function ends
    /// the stream.
    package let next: @Sendable () async throws -> [JSONValue]?
    /// Throws if items must no longer be passed on, such as those of a read whose user has left.
    package var check: (@Sendable () throws -> Void)?

    package init(next: @escaping @Sendable () async throws -> [JSONValue]?) { self.next = next }
}

extension ServiceResponse {
    /// Creates a response whose result is a stream of items, for your own services. Callers read it with `stream(_:…)`;
    /// a plain call fails.
    ///
    /// ```swift
    /// func respond(to request: ServiceRequest) async throws -> ServiceResponse {
    ///     ServiceResponse(stream: model.tokens(for: request.data))
    /// }
    /// ```
    /// The stream is read as fast as its reader reads, and dropped when the reader stops. To be read one item at a
    /// time, create it with `AsyncThrowingStream(unfolding:)`.
    /// - Parameters:
    ///   - items: The items, each encoded as JSON.
    ///   - coding: The codec for the items.
    public init<Item: Encodable & Sendable>(
        stream items: AsyncThrowingStream<Item, any Error>, coding: any JSONCodec = CodingOptions()
    ) {
        self.init(.null)
        self[ResultStream.self] = ResultStream {
            // Iterators of one stream share its elements.
            for try await item in items { return [try item as? JSONValue ?? coding.encode(item)] }
            return nil
        }
    }
}

/// A streamed result on its way from the call to its reader, who fetches the items itself while the call waits for the
/// end.
final class ResultChannel: Sendable {
    private struct State {
        /// The items that have arrived but have not been returned, in reverse order.
        var batch: [JSONValue] = []
        /// The stream and the promise of its end, which the call waits for; nil before the result has arrived and after
        /// its end.
        var open: (stream: ResultStream, end: Promise<Void>)?
        /// Settled when the stream, or the outcome of the call, has arrived.
        var arrival: Promise<Void>?
        var outcome: Result<Void, any Error>?
        /// Whether the result is a stream.
        var isStreamed = false
        /// Throws if the reader must no longer get the items.
        var check: (@Sendable () throws -> Void)?
        /// The failure of a stream after its first item. Such a call must not be repeated.
        var failure: (any Error)?
        var hasItems = false

        mutating func takeArrival() -> Promise<Void>? {
            defer { arrival = nil }
            return arrival
        }
    }

    private let state = Locked(State())

    // MARK: The call

    /// Runs the method. If its result is a stream, returns when the reader has reached the end.
    /// - Returns: The response, with null instead of a stream.
    func run(_ endpoint: any Responder, _ request: ServiceRequest) async throws -> ServiceResponse {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        var response = try await endpoint.respond(to: request)
        guard let stream = response[ResultStream.self] else { return response }
        response[ResultStream.self] = nil
        let end = Promise<Void>()
        let arrival = state.withLock { state in
            (state.isStreamed, state.check, state.open) = (true, stream.check, (stream, end))
            return state.takeArrival()
        }
        // The stream ends with the call.
        defer { state.withLock { $0.open = nil } }
        arrival?.resolve(())
        do {
            try await end.value()
        } catch {
            state.withLock { if $0.hasItems { $0.failure = error } }
            throw error
        }
        return response
    }

    /// Ends the call. A result that is not a stream becomes one: the elements of an array, nothing for null, or any
    /// other value as the only item.
    func finish(_ outcome: Result<ServiceResponse, any Error>) {
        let arrival = state.withLock { state in
            if case .success(let response) = outcome, !state.isStreamed, !response.result.isNull {
                state.batch = (response.result.array ?? [response.result]).reversed()
            }
            state.outcome = outcome.map { _ in }
            return state.takeArrival()
        }
        arrival?.resolve(())
    }

    // MARK: The reader

    /// Returns the next item that has already arrived, or nil if there isn't one.
    func nextOfBatch() throws -> JSONValue? {
        let (item, check) = state.withLock { ($0.batch.popLast(), $0.check) }
        if let check, item != nil { try check() }
        return item
    }

    /// Returns the next item, waiting for it; nil at the end.
    func next() async throws -> JSONValue? {
        while true {
            if let item = try nextOfBatch() { return item }
            let (open, outcome, arrival) = state.withLock { state in
                if let open = state.open {
                    return (
                        open as (stream: ResultStream, end: Promise<Void>)?, nil as Result<Void, any Error>?,
                        nil as Promise<Void>?
                    )
                }
                if let outcome = state.outcome {
                    // A second read after a failure finds the end.
                    state.outcome = .success(())
                    return (nil, outcome, nil)
                }
                let arrival = Promise<Void>()
                state.arrival = arrival
                return (nil, nil, arrival)
            }
            if let open {
                await fetch(open.stream, open.end)
            } else if let outcome {
                try outcome.get()
                return nil
            } else {
                try await arrival?.value()
            }
        }
    }

    /// Fetches the next items. The end, or an error, goes to the call, whose outcome is that of the stream.
    private func fetch(_ stream: ResultStream, _ end: Promise<Void>) async {
        do {
            let items = try await stream.next()
            try stream.check?()
            guard let items else {
                state.withLock { $0.open = nil }
                end.resolve(())
                return
            }
            state.withLock { state in
                (state.batch, state.hasItems) = (items, state.hasItems || !items.isEmpty)
                // Moves the items, whereas the array's own method copies them.
                state.batch.withUnsafeMutableBufferPointer { $0.reverse() }
            }
        } catch {
            state.withLock { $0.open = nil }
            end.fail(error)
        }
    }
}

/// The reader of a streamed call. The call begins with the first read and ends with this object.
final class StreamedCall: Sendable {
    private let channel = ResultChannel()
    private struct State {
        var hasBegun = false
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())
    private let perform: @Sendable (ResultChannel) async throws -> ServiceResponse

    init(_ perform: @escaping @Sendable (ResultChannel) async throws -> ServiceResponse) { self.perform = perform }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Returns the next item that has already arrived, or nil if there isn't one.
    func nextOfBatch() throws -> JSONValue? { try channel.nextOfBatch() }

    func next() async throws -> JSONValue? {
        if let item = try channel.nextOfBatch() { return item }
        start()
        return try await withTaskCancellationHandler {
            try await channel.next()
        } onCancel: {
            state.withLock { $0.task }?.cancel()
        }
    }

    /// Starts the call in a task that retains the channel, but not this object. It inherits the reader's priority and
    /// task-local values.
    private func start() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        let task = Task.beginning { [channel, perform] in
            do {
                channel.finish(.success(try await perform(channel)))
            } catch {
                channel.finish(.failure(error))
            }
        }
        state.withLock { $0.task = task }
    }
}

extension FeathersError {
    /// Returns the error for a plain call whose result is a stream.
    package static func streams(_ method: ServiceMethod, of path: String) -> FeathersError {
        FeathersError(
            .generalError, "'\(method)' on service '\(path)' streams its result: read it with 'stream(.\(method), …)'",
            execution: .answered
        )
    }

    /// The error of a stream that ended without its last item.
    static var incompleteStream: FeathersError {
        FeathersError(
            .generalError, "The stream ended before the item that 'endingWith' describes, so its result is incomplete",
            execution: .answered
        )
    }
}

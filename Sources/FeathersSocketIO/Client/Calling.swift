import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

struct OutgoingCall: Sendable {
    var id: Int
    var frame: EngineFrame
    /// When the call was made; the clock is read once for each call.
    var madeAt: Duration
    var deadline: Duration?
    var isVolatile: Bool
    /// The connection the call belongs to: the call goes out at once over that one, or not at all.
    var connection: SocketIOConnection?
    /// Where the call waits if it cannot be sent at once.
    var lane = CallTable<SocketIOClient.Waiter>.Lane.ordinary
    /// Whether the call has a task of its own that watches its deadline.
    var keepsTime = false
}

extension SocketIOClient {
    /// What remains to be done for a call, or another frame, once the lock is released.
    enum Outcome: Sendable {
        /// Hand the frames to this connection: no other thread is doing so.
        case drain(SocketIOConnection, [EngineFrame])
        case waits
        case fails(FeathersError)
        /// The server has been silent for too long: end the connection.
        case lost(SocketIOConnection)
    }

    /// Calls that were taken from their lane, and what remains to be done for them once the lock is released.
    struct Departure: Sendable {
        var outcome = Outcome.waits
        var refused: [(call: CallTable<Waiter>.Call, why: FeathersError)] = []
    }

    /// Sends a request and waits for its result.
    /// - Parameter connection: the connection the call belongs to; nil for the current one, or the next.
    func call(_ request: ServiceRequest, over connection: SocketIOConnection? = nil) async throws -> ServiceResponse {
        try await send(try CallArguments.array(of: request), for: request, over: connection)
    }

    /// Sends these arguments as a request's event and waits for the result in the acknowledgement.
    func send(_ arguments: JSONValue, for request: ServiceRequest, over connection: SocketIOConnection? = nil) async throws
        -> ServiceResponse
    {
        try Task.checkCancellation()
        let id = nextID.wrappingAdd(1, ordering: .relaxed).oldValue
        let frame: EngineFrame
        do throws(JSONSerializationError) {
            frame = try SocketPacket(.event, namespace: options.namespace, id: id, data: arguments).frame(call: id)
        } catch {
            throw FeathersError.refused("The call cannot be written as JSON: \(error)")
        }
        let now = timebase.now
        let call = OutgoingCall(
            id: id, frame: frame, madeAt: now, deadline: (request.params.timeout ?? options.callTimeout).map { now + $0 },
            isVolatile: connection != nil || request.params.isVolatile, connection: connection,
            lane: request.params.concernsConnection ? .session : .ordinary)
        guard !state.withLock({ $0.life.isRunning }) else { return try await wait(for: call, request) }
        return try await waitKeepingTime(for: call, request)
    }

    /// How long a call waits for a connection that nothing has begun to open. It is long enough for an app that starts beside its first calls.
    private static let startingTime = Duration.seconds(1)

    /// Waits as `wait` does, while the client is not running and its timer therefore does not watch the deadline.
    private func waitKeepingTime(for call: OutgoingCall, _ request: ServiceRequest) async throws -> ServiceResponse {
        var call = call
        call.keepsTime = true
        let starting = call.madeAt + Self.startingTime
        return try await withThrowingTaskGroup(of: ServiceResponse?.self) { group in
            group.addTask { [call] in try await self.wait(for: call, request) }
            if let deadline = call.deadline {
                group.addTask {
                    try await self.timebase.sleep(until: deadline)
                    self.timePassed()
                    return nil
                }
            }
            group.addTask { [id = call.id] in
                try await self.timebase.sleep(until: starting)
                self.failUnlessRunning(id)
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Fails a call that would wait for its deadline, since nothing opens a connection.
    private func failUnlessRunning(_ id: Int) {
        let call: CallTable<Waiter>.Call? = state.withLock { state in
            guard case .idle = state.life else { return nil }
            return state.calls.cancelled(id)
        }
        guard let call else { return }
        let isLate = call.deadline.map { $0 <= timebase.now } ?? false
        call.waiter.resume(throwing: isLate ? FeathersError.unconnected(after: nil) : FeathersError.notStarted)
    }

    private func wait(for call: OutgoingCall, _ request: ServiceRequest) async throws -> ServiceResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(call, Waiter(continuation: continuation, request: request))
                // A cancellation before the registration found no call to end.
                if Task.isCancelled { cancel(call.id) }
            }
        } onCancel: {
            cancel(call.id)
        }
    }

    private func begin(_ call: OutgoingCall, _ waiter: Waiter) {
        guard call.frame.size <= options.maximumMessageSize else {
            return waiter.resume(throwing: FeathersError.tooLarge(call.frame.size, limit: options.maximumMessageSize))
        }
        var signal: Promise<Void>?
        let outcome: Outcome = state.withLock { state in
            let outcome = add(call, waiter, &state)
            if let deadline = call.deadline, deadline < state.alarm.moment ?? .seconds(Int64.max / 2) {
                state.alarm.moment = deadline
                signal = state.alarm.signal
            }
            return outcome
        }
        signal?.resolve(())
        switch outcome {
        case .drain(let connection, let frames): drain(connection, frames)
        case .waits: break
        case .fails(let error): waiter.resume(throwing: error)
        case .lost(let connection): lose(connection, Disconnection(.pingTimeout))
        }
    }

    /// Sends a call at once if its connection, or the stage of the current one, allows that. Otherwise the call waits.
    private func add(_ call: OutgoingCall, _ waiter: Waiter, _ state: inout State) -> Outcome {
        guard let connection = state.connection(for: call) else { return queue(call, waiter, &state) }
        if let refusal = refusal(of: call.frame, waiter, limit: min(state.maxPayload, options.maximumMessageSize)) {
            return .fails(refusal)
        }
        guard state.current?.heartbeat.isExpired(at: call.madeAt) == false else {
            let outcome = queue(call, waiter, &state)
            // If the call fails, the timer is left to notice the silence. It does so at once.
            return if case .waits = outcome { .lost(connection) } else { outcome }
        }
        state.calls.addSent(
            call.id, waiter: waiter, frame: call.frame, deadline: call.deadline, isVolatile: call.isVolatile, lane: call.lane)
        return handOver([call.frame], connection, &state)
    }

    private func queue(_ call: OutgoingCall, _ waiter: Waiter, _ state: inout State) -> Outcome {
        switch state.life {
        case .closed(let reason): return .fails(.notConnected("The connection is closed: \(reason.explanation)"))
        // The run has just ended, and its timer with it.
        case .idle where call.deadline != nil && !call.keepsTime: return .fails(.notConnected("The connection was ended"))
        case .idle, .running: break
        }
        guard !call.isVolatile, options.offlineCalls != .fail else { return .fails(.notConnected("There is no connection")) }
        guard state.calls.addQueued(call.id, waiter: waiter, frame: call.frame, deadline: call.deadline, lane: call.lane) else {
            return .fails(.notConnected("There is no connection, and as many calls wait for one as may"))
        }
        return .waits
    }

    /// Returns why a call may not be written to the connection, or nil if it may. Every call passes through here, under the lock, at the
    /// moment its frame is taken to be written: at once or from its lane.
    private func refusal(of frame: EngineFrame, _ waiter: Waiter, limit: Int) -> FeathersError? {
        guard frame.size <= limit else { return .tooLarge(frame.size, limit: limit) }
        // A later sign-in is written under this lock too: what was asked for before it does not follow it.
        return waiter.request.isCurrent ? nil : .senderChanged(waiter.request)
    }

    func takeLane(_ lane: CallTable<Waiter>.Lane, over connection: SocketIOConnection, _ state: inout State) -> Departure {
        let limit = min(state.maxPayload, options.maximumMessageSize)
        let taken = state.calls.takeQueue(lane) { refusal(of: $0.frame, $0.waiter, limit: limit) }
        return Departure(outcome: handOver(taken.frames, connection, &state), refused: taken.refused)
    }

    func complete(_ departure: Departure) {
        if case .drain(let connection, let frames) = departure.outcome { drain(connection, frames) }
        for (call, why) in departure.refused { call.waiter.resume(throwing: why) }
    }

    /// Fails the calls that wait to be sent and match. Calls whose frames were taken to be written continue.
    func failUnsent(where isStale: (ServiceRequest) -> Bool) {
        let calls = state.withLock { $0.calls.takeUnsent { isStale($0.waiter.request) } }
        for call in calls { call.waiter.resume(throwing: FeathersError.senderChanged(call.waiter.request)) }
    }

    func endCalls() {
        let calls = state.withLock { $0.calls.takeAll() }
        for call in calls {
            call.waiter.resume(
                throwing: FeathersError(.unavailable, "The app was shut down before the answer came", execution: .mayHaveExecuted))
        }
    }

    /// Ends a call that its caller cancelled; does nothing if it has ended.
    private func cancel(_ id: Int) {
        let call = state.withLock { state in
            state.current?.outbox.removeAll { $0.call == id }
            return state.calls.cancelled(id)
        }
        call?.waiter.resume(throwing: CancellationError())
    }

    // MARK: - Frames

    func send(_ frames: [EngineFrame], over connection: SocketIOConnection) {
        let outcome: Outcome = state.withLock { state in
            guard state.isCurrent(connection) else { return .waits }
            return handOver(frames, connection, &state)
        }
        if case .drain(let connection, let frames) = outcome { drain(connection, frames) }
    }

    /// Decides who hands frames to the current connection: this thread, or the one that is doing so already.
    private func handOver(_ frames: [EngineFrame], _ connection: SocketIOConnection, _ state: inout State) -> Outcome {
        guard state.current?.isDraining == false, !frames.isEmpty else {
            state.current?.outbox += frames
            return .waits
        }
        state.current?.isDraining = true
        return .drain(connection, frames)
    }

    private func drain(_ connection: SocketIOConnection, _ first: [EngineFrame]) {
        var frames = first
        while !frames.isEmpty {
            var failure: EngineSendError?
            do throws(EngineSendError) {
                try connection.engine.sendNow(frames)
            } catch {
                failure = error
            }
            var dropped: [Waiter] = []
            frames = state.withLock { state in
                // The loss of the connection has settled what was left; the next connection has its own outbox.
                guard state.isCurrent(connection) else { return [] }
                let left = frames.dropFirst(failure?.taken ?? frames.count)
                switch failure?.reason {
                case .closed: state.current?.refused += left.compactMap(\.call)
                case .queueFull: dropped = left.compactMap { $0.call.flatMap { state.calls.cancelled($0)?.waiter } }
                case nil: break
                }
                let next = state.current?.outbox ?? []
                state.current?.outbox = []
                if next.isEmpty { state.current?.isDraining = false }
                return next
            }
            for waiter in dropped { waiter.resume(throwing: FeathersError.notConnected("More waits to be sent than the connection keeps")) }
        }
    }
}

extension FeathersError {
    static func notConnected(_ why: String, cause: FeathersError? = nil) -> FeathersError {
        FeathersError(.unavailable, why, execution: .neverSent, cause: cause)
    }

    /// Nothing has begun to open a connection.
    static var notStarted: FeathersError {
        notConnected(
            "Nothing opens the app's connection: make calls in 'withFeathersApp(app) { … }', or call 'try await app.connect()' first")
    }

    /// The call was sent, and its time is over.
    static var unanswered: FeathersError { FeathersError(.timeout, "No answer came in time", execution: .mayHaveExecuted) }

    /// The call waited for a connection, and its time is over.
    /// - Parameter failure: why there is none, as far as that is known.
    static func unconnected(after failure: FeathersError?) -> FeathersError {
        let reason = failure.map { ": \($0.message)" } ?? ""
        return FeathersError(.timeout, "No connection came in time\(reason)", execution: .neverSent, cause: failure)
    }

    /// The call is larger than the server, or this transport, accepts.
    static func tooLarge(_ size: Int, limit: Int) -> FeathersError {
        var error = FeathersError(413, "The call has \(size) bytes, and at most \(limit) are accepted", execution: .neverSent)
        (error.name, error.className) = ("PayloadTooLarge", "payload-too-large")
        return error
    }
}

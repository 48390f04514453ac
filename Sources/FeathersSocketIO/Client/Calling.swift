import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

struct OutgoingCall: Sendable {
    var id: Int
    var frame: EngineFrame
    /// When the call was made. The clock is read once per call.
    var madeAt: Duration
    var deadline: Duration?
    var isVolatile: Bool
    /// The connection that the call is bound to. The call is sent over it immediately, or fails.
    var connection: SocketIOConnection?
    /// The lane in which the call waits if it cannot be sent immediately.
    var lane = CallTable<SocketIOClient.Waiter>.Lane.ordinary
    /// Whether the call may be sent over a retired connection.
    var endsConnection = false
    /// Whether the call has its own task that enforces its deadline.
    var keepsTime = false
}

extension SocketIOClient {
    /// The work left for a call, or for another frame, after the lock is released.
    enum Outcome: Sendable {
        /// Pass the frames to this connection. No other thread is doing so.
        case drain(SocketIOConnection, [EngineFrame])
        case waits
        case fails(FeathersError)
        /// The server has been silent for too long, so the connection must end.
        case lost(SocketIOConnection)
    }

    /// Calls taken from their lane, and the work left for them after the lock is released.
    struct Departure: Sendable {
        var outcome = Outcome.waits
        var refused: [(call: CallTable<Waiter>.Call, why: FeathersError)] = []
    }

    /// Sends a request and waits for its result. If `connection` is nil, the call is sent over the current or next
    /// connection.
    func call(_ request: ServiceRequest, over connection: SocketIOConnection? = nil) async throws -> ServiceResponse {
        try request.checkConnectionMayCarry()
        return try await send(try CallArguments.array(of: request), for: request, over: connection)
    }

    /// Sends arguments as a request's event, and waits for the result in the acknowledgement.
    @inline(__always)
    func send(_ arguments: JSONValue, for request: ServiceRequest, over connection: SocketIOConnection? = nil)
        async throws
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
            id: id, frame: frame, madeAt: now,
            deadline: (request.params.timeout ?? options.callTimeout).map { now + $0 },
            isVolatile: connection != nil || request.params.isVolatile, connection: connection,
            lane: request.params.concernsConnection ? .session : .ordinary,
            endsConnection: request.params.endsConnection)
        guard !isRunning.load(ordering: .acquiring) else { return try await wait(for: call, request) }
        return try await waitKeepingTime(for: call, request)
    }

    /// How long a call waits if no connection has been started. Long enough for an app that starts at the same time as
    /// its first calls.
    private static let startingTime = Duration.seconds(1)

    /// Like `wait`, but enforces the deadline itself, because the client's timer isn't running.
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

    /// Fails a call that would otherwise wait until its deadline, because no connection has been started.
    private func failUnlessRunning(_ id: Int) {
        let call: CallTable<Waiter>.Call? = state.withLock { state in
            guard case .idle = state.run.life else { return nil }
            return state.calls.cancelled(id)
        }
        guard let call else { return }
        let isLate = call.deadline.map { $0 <= timebase.now } ?? false
        call.waiter.resume(throwing: isLate ? FeathersError.unconnected(after: nil) : FeathersError.notStarted)
    }

    @inline(__always)
    private func wait(for call: OutgoingCall, _ request: ServiceRequest) async throws -> ServiceResponse {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
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
        // Most calls end long before their deadline. So a timer wakes the client's task at the deadline, instead of
        // waking it now to set its own timer.
        if let signal, let deadline = call.deadline, timebase.schedule(signal, at: deadline) == nil {
            signal.resolve(())
        }
        switch outcome {
        case .drain(let connection, let frames): drain(connection, frames)
        case .waits: break
        case .fails(let error): waiter.resume(throwing: error)
        case .lost(let connection): lose(connection, Disconnection(.pingTimeout))
        }
    }

    /// Sends a call immediately if its connection, or the stage of the current one, allows it. Otherwise, the call
    /// waits.
    private func add(_ call: OutgoingCall, _ waiter: Waiter, _ state: inout State) -> Outcome {
        guard let connection = state.connection(for: call) else { return queue(call, waiter, &state) }
        if let refusal = refusal(of: call.frame, waiter, limit: min(state.maxPayload, options.maximumMessageSize)) {
            return .fails(refusal)
        }
        guard state.current?.heartbeat.isExpired(at: call.madeAt) == false else {
            let outcome = queue(call, waiter, &state)
            // If the call fails, the timer detects the silence instead, and does so immediately.
            return if case .waits = outcome { .lost(connection) } else { outcome }
        }
        state.calls.addSent(
            call.id, waiter: waiter, frame: call.frame, deadline: call.deadline, isVolatile: call.isVolatile,
            lane: call.lane)
        return handOver([call.frame], connection, &state)
    }

    private func queue(_ call: OutgoingCall, _ waiter: Waiter, _ state: inout State) -> Outcome {
        switch state.run.life {
        case .closed(let reason): return .fails(.notConnected("The connection is closed: \(reason.refusalText)"))
        // The run has just ended, and its timer with it.
        case .idle where call.deadline != nil && !call.keepsTime:
            return .fails(.notConnected("The connection was ended"))
        case .idle, .running: break
        }
        guard !call.isVolatile, options.offlineCalls != .fail else {
            return .fails(.notConnected("There is no connection"))
        }
        guard
            state.calls.addQueued(call.id, waiter: waiter, frame: call.frame, deadline: call.deadline, lane: call.lane)
        else {
            return .fails(.notConnected("There is no connection, and the queue of waiting calls is full"))
        }
        return .waits
    }

    /// Returns the reason why a call must not be written to the connection, or nil if it may be. Every call passes
    /// through here, under the lock, at the moment its frame is taken for writing, either immediately or from its lane.
    private func refusal(of frame: EngineFrame, _ waiter: Waiter, limit: Int) -> FeathersError? {
        guard frame.size <= limit else { return .tooLarge(frame.size, limit: limit) }
        // A later sign-in is written under this lock too, so earlier requests never follow it.
        return waiter.request.isCurrent ? nil : .senderChanged(waiter.request)
    }

    func takeLane(_ lane: CallTable<Waiter>.Lane, over connection: SocketIOConnection, _ state: inout State)
        -> Departure
    {
        let limit = min(state.maxPayload, options.maximumMessageSize)
        let taken = state.calls.takeQueue(lane) { refusal(of: $0.frame, $0.waiter, limit: limit) }
        return Departure(outcome: handOver(taken.frames, connection, &state), refused: taken.refused)
    }

    func complete(_ departure: Departure) {
        if case .drain(let connection, let frames) = departure.outcome { drain(connection, frames) }
        for (call, why) in departure.refused { call.waiter.resume(throwing: why) }
    }

    /// Fails the matching calls that are waiting to be sent. Calls whose frames were taken for writing continue.
    func failUnsent(where isStale: (ServiceRequest) -> Bool) {
        let calls = state.withLock { $0.calls.takeUnsent { isStale($0.waiter.request) } }
        for call in calls { call.waiter.resume(throwing: FeathersError.senderChanged(call.waiter.request)) }
    }

    func endCalls() {
        let calls = state.withLock { state in
            let held = (state.current?.outbox ?? []).compactMap(\.call)
            // These callers learn that their calls were never sent, so nothing may be sent for them.
            state.current?.outbox.removeAll { $0.call != nil }
            return held.compactMap { state.calls.cancelled($0) }.map { ($0, false) }
                + state.calls.takeAll().map { ($0, $0.unsent == nil) }
        }
        for (call, isSent) in calls {
            call.waiter.resume(
                throwing: FeathersError(
                    .unavailable, "The app was shut down before the response arrived",
                    execution: isSent ? .mayHaveExecuted : .neverSent))
        }
    }

    /// Ends a call that its caller cancelled. A no-op if the call has ended.
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

    /// Decides which thread passes frames to the current connection: this one, or one that is already doing so.
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
                // The loss of the connection has settled the remaining frames. The next connection has its own outbox.
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
            for waiter in dropped {
                waiter.resume(throwing: FeathersError.notConnected("The connection's send queue is full"))
            }
        }
    }
}

extension FeathersError {
    static func notConnected(_ why: String, cause: FeathersError? = nil) -> FeathersError {
        FeathersError(.unavailable, why, execution: .neverSent, cause: cause)
    }

    /// The error of a call for which no connection has been started.
    static var notStarted: FeathersError {
        notConnected(
            "The app's connection was not started: make calls in 'withFeathersApp(app) { … }', "
                + "or call 'try await app.connect()' first")
    }

    /// The error of a call that was sent, but had no response by its deadline.
    static func unanswered(_ request: ServiceRequest) -> FeathersError {
        var error = FeathersError(.timeout, "No response arrived in time", execution: .mayHaveExecuted)
        if request.method.isCustom {
            error.advice = "a Socket.IO server does not respond to a method that none of its services has"
        }
        return error
    }

    /// The error of a call that was still waiting for a connection at its deadline.
    /// - Parameter failure: The reason why there is no connection, if known.
    static func unconnected(after failure: FeathersError?) -> FeathersError {
        let reason = failure.map { ": \($0.message)" } ?? ""
        return FeathersError(
            .timeout, "No connection was opened in time\(reason)", execution: .neverSent, cause: failure)
    }

    /// The error of a call that is larger than the server, or this transport, accepts.
    static func tooLarge(_ size: Int, limit: Int) -> FeathersError {
        var error = FeathersError(
            413, "The call has \(size) bytes, but at most \(limit) are accepted", execution: .neverSent)
        (error.name, error.className) = ("PayloadTooLarge", "payload-too-large")
        return error
    }
}

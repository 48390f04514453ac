import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

/// A call on its way into the table.
struct OutgoingCall: Sendable {
    var id: Int
    var frame: EngineFrame
    /// When the call was made; nobody asks the clock twice for one call.
    var madeAt: Duration
    var deadline: Duration?
    var isVolatile: Bool
    /// The connection it belongs to: it goes out at once over that one, or not at all.
    var link: Link?
    /// Where the result's text may be left, in place of its tree.
    var resultText: ResultText?
    /// Whether a task of the call's own sees to its deadline.
    var keepsTime = false
}

extension SocketIOClient {
    /// What becomes of a call, or another frame, once the lock is released.
    enum Outcome: Sendable {
        /// Hand the frames to this connection: no other thread is doing so.
        case drain(Link, [EngineFrame])
        case waits
        case fails(FeathersError)
        /// The server has been silent for too long: it goes with its connection.
        case lost(Link)
    }

    /// Sends a request and waits for its answer.
    /// - Parameter link: the connection the call belongs to; nil for whichever stands, or comes.
    func call(_ request: ServiceRequest, over link: Link? = nil) async throws -> JSONValue {
        try await call(
            CallArguments.array(of: request), timeout: request.params.timeout ?? options.callTimeout,
            isVolatile: link != nil || request.params.isVolatile, over: link, resultText: request.resultText)
    }

    /// Sends an event with these arguments and waits for its acknowledgement.
    /// - Parameters:
    ///   - timeout: how long it may take, waiting for a connection included; nil for as long as it takes.
    ///   - isVolatile: whether it is given up where it cannot be sent now.
    ///   - link: the connection it belongs to; nil for whichever stands, or comes.
    ///   - resultText: where the result's text may be left, in place of its tree.
    /// - Returns: the result of the acknowledgement.
    func call(
        _ arguments: JSONValue, timeout: Duration?, isVolatile: Bool, over link: Link? = nil, resultText: ResultText? = nil
    ) async throws -> JSONValue {
        try Task.checkCancellation()
        let id = nextID.wrappingAdd(1, ordering: .relaxed).oldValue
        let frame: EngineFrame
        do throws(JSONSerializationError) {
            let packet = SocketPacket(.event, namespace: options.namespace, id: id, data: arguments)
            frame = try SocketPacketEncoder.frame(of: packet, call: id)
        } catch {
            throw FeathersError.refused("The call cannot be written as JSON: \(error)")
        }
        let now = timebase.now
        let call = OutgoingCall(
            id: id, frame: frame, madeAt: now, deadline: timeout.map { now + $0 }, isVolatile: isVolatile, link: link,
            resultText: resultText)
        guard let deadline = call.deadline, !isRunning else { return try await wait(for: call) }
        return try await waitKeepingTime(for: call, until: deadline)
    }

    /// Waits as `wait` does, while no connection is wanted and nobody else keeps time.
    private func waitKeepingTime(for call: OutgoingCall, until deadline: Duration) async throws -> JSONValue {
        var call = call
        call.keepsTime = true
        return try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            group.addTask { [call] in try await self.wait(for: call) }
            group.addTask {
                try await self.timebase.sleep(until: deadline)
                self.timePassed()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private var isRunning: Bool {
        state.withLock { if case .running = $0.life { true } else { false } }
    }

    private func wait(for call: OutgoingCall) async throws -> JSONValue {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(call, Waiter(continuation: continuation, resultText: call.resultText))
                // A cancellation before the registration found nobody to wake.
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
            if let deadline = call.deadline, deadline < state.timerMoment ?? .seconds(Int64.max / 2) {
                state.timerMoment = deadline
                signal = state.timerSignal
            }
            return outcome
        }
        signal?.resolve(())
        switch outcome {
        case .drain(let link, let frames): drain(link, frames)
        case .waits: break
        case .fails(let error): waiter.resume(throwing: error)
        case .lost(let link): lose(link, LinkEnd(.pingTimeout))
        }
    }

    private func add(_ call: OutgoingCall, _ waiter: Waiter, _ state: inout State) -> Outcome {
        if let link = state.link, let engine = state.engine, state.session.isJoined, call.link.map({ $0 === link }) ?? state.isOpen {
            guard call.frame.size <= engine.handshake.maxPayload else {
                return .fails(.tooLarge(call.frame.size, limit: engine.handshake.maxPayload))
            }
            guard engine.isExpired(at: call.madeAt) else {
                state.calls.addSent(call.id, waiter: waiter, frame: call.frame, deadline: call.deadline, isVolatile: call.isVolatile)
                return handOver([call.frame], link, &state)
            }
            let outcome = queue(call, waiter, &state)
            // Failing calls leave the discovery to the timer, which comes at once.
            return if case .waits = outcome { .lost(link) } else { outcome }
        }
        return queue(call, waiter, &state)
    }

    private func queue(_ call: OutgoingCall, _ waiter: Waiter, _ state: inout State) -> Outcome {
        switch state.life {
        case .closed(let reason): return .fails(.notConnected("The connection is closed: \(reason.explanation)"))
        // It ended in this very moment, and its timer with it.
        case .idle where call.deadline != nil && !call.keepsTime: return .fails(.notConnected("The connection was ended"))
        case .idle, .running: break
        }
        guard !call.isVolatile, options.offlineCalls != .fail else { return .fails(.notConnected("There is no connection")) }
        guard state.calls.addQueued(call.id, waiter: waiter, frame: call.frame, deadline: call.deadline) else {
            return .fails(.notConnected("There is no connection, and as many calls wait for one as may"))
        }
        return .waits
    }

    /// Decides who hands frames to the connection: this thread, or the one that is doing so already.
    func handOver(_ frames: [EngineFrame], _ link: Link, _ state: inout State) -> Outcome {
        guard !state.isDraining, !frames.isEmpty else {
            state.outbox += frames
            return .waits
        }
        state.isDraining = true
        return .drain(link, frames)
    }

    /// Sends frames that belong to no call, in their order among the calls' frames.
    func send(_ frames: [EngineFrame], over link: Link) {
        let outcome: Outcome = state.withLock { state in
            guard state.link === link else { return .waits }
            return handOver(frames, link, &state)
        }
        if case .drain(let link, let frames) = outcome { drain(link, frames) }
    }

    /// Hands frames to the connection until none is left.
    func drain(_ link: Link, _ first: [EngineFrame]) {
        var frames = first
        while !frames.isEmpty {
            var failure: EngineSendError?
            do throws(EngineSendError) {
                try link.connection.sendNow(frames)
            } catch {
                failure = error
            }
            var dropped: [Waiter] = []
            frames = state.withLock { state in
                // Another connection has its own turn; what was left for this one is settled with it.
                guard state.link === link else { return [] }
                let left = frames.dropFirst(failure?.taken ?? frames.count)
                switch failure?.reason {
                case .closed: state.refused += left.compactMap(\.call)
                case .queueFull: dropped = left.compactMap { $0.call.flatMap { state.calls.cancelled($0)?.waiter } }
                case nil: break
                }
                defer { state.outbox = [] }
                if state.outbox.isEmpty { state.isDraining = false }
                return state.outbox
            }
            for waiter in dropped {
                waiter.resume(throwing: FeathersError.notConnected("More waits to be sent than the connection keeps"))
            }
        }
    }

    /// Gives a call up; does nothing for one that has ended.
    private func cancel(_ id: Int) {
        let call = state.withLock { state in
            state.outbox.removeAll { $0.call == id }
            return state.calls.cancelled(id)
        }
        call?.waiter.resume(throwing: CancellationError())
    }
}

import FeathersCore
import FeathersNetworking
import FeathersSupport

/// An Engine.IO session over HTTP long-polling: at most one GET waits and at most one POST is under way.
final class PollingConnection: EngineConnection {
    /// How polling came to its end.
    enum End: Sendable {
        case closed(EngineClosure)
        /// At rest, so that a WebSocket can take over; what was not posted is handed on.
        case paused(unsent: [EngineFrame])
    }

    struct State {
        var queue: PollingQueue
        var isPausing = false
        var isClosing = false
        var isEnded = false
        var closure: EngineClosure?
        /// Settled when the probe of a WebSocket is over; nil where there is none.
        var probe: Promise<Void>?
    }

    let handshake: EngineHandshake
    let requests: PollingRequests
    let state: Locked<State>
    /// The packets that came together with the handshake.
    private let early: [EnginePacket]
    let sendings: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    private init(_ requests: PollingRequests, _ handshake: EngineHandshake, _ early: [EnginePacket]) {
        self.requests = requests
        self.handshake = handshake
        self.early = early
        state = Locked(State(queue: PollingQueue(maxPayload: handshake.maxPayload)))
        (sendings, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Opens a session.
    /// - Throws: ``EngineOpeningError``, `CancellationError`.
    static func open(_ requests: PollingRequests) async throws -> PollingConnection {
        var packets = try await requests.poll(sid: nil, timeout: nil)
        guard case .open(let text) = packets.removeFirst() else { throw EngineOpeningError("The server's first packet is no handshake") }
        do throws(EngineHandshakeError) {
            return PollingConnection(requests, try EngineHandshake(parsing: text), packets)
        } catch {
            throw EngineOpeningError("\(error)")
        }
    }

    func run(_ handler: @escaping @Sendable (EnginePacket) -> Void) async -> EngineClosure {
        switch await runUntilPaused(handler) {
        case .closed(let closure): closure
        case .paused: EngineClosure(reason: .closed)
        }
    }

    func runUntilPaused(_ handler: @escaping @Sendable (EnginePacket) -> Void) async -> End {
        early.forEach(handler)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.poll(handler) }
            group.addTask { await self.post() }
            await group.next()
            // Where polling comes to rest, and where the good-bye is still under way, the other one ends by itself.
            if state.withLock({ ($0.isPausing || $0.isClosing) && $0.closure == nil }) { await group.next() }
            group.cancelAll()
        }
        return state.withLock { state in
            state.isEnded = true
            let unsent = state.queue.takeAll()
            if state.isPausing, state.closure == nil { return .paused(unsent: unsent) }
            var closure = state.closure ?? EngineClosure(reason: .closed)
            closure.unsent += unsent.compactMap(\.call)
            return .closed(closure)
        }
    }

    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError) {
        let isAccepted = state.withLock { state in
            guard !state.isClosing, !state.isEnded else { return false }
            state.queue.append(contentsOf: frames)
            return true
        }
        guard isAccepted else { throw EngineSendError(reason: .closed) }
        wake.yield()
    }

    func close() {
        let isFirst = state.withLock { state in
            guard !state.isClosing, !state.isEnded else { return false }
            state.isClosing = true
            state.queue.append(contentsOf: [EnginePacket.close.frame])
            return true
        }
        if isFirst { wake.yield() }
    }

    /// A WebSocket is being probed until the promise is settled.
    ///
    /// A server that has answered the probe releases the waiting poll with a `noop`, maybe before the answer is read here. Another poll
    /// would then wait for nobody knows how long, and the upgrade with it.
    func expectProbe(_ probe: Promise<Void>) {
        state.withLock { $0.probe = probe }
    }

    /// Lets the GET and the POST under way end and begins no others.
    func pause() {
        state.withLock { $0.isPausing = true }
        wake.yield()
    }

    /// Notes why the session ended; the first reason counts.
    func end(_ reason: EngineClosure.Reason) {
        state.withLock { state in
            if state.closure == nil { state.closure = EngineClosure(reason: state.isClosing ? .closed : reason) }
        }
    }
}

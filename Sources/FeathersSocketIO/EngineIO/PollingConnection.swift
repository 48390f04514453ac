import FeathersCore
import FeathersNetworking
import FeathersSupport

/// An Engine.IO session over HTTP long-polling, with at most one GET and one POST in flight.
final class PollingConnection: EngineConnection {
    private struct State {
        var queue: PollingQueue
        var isClosing = false
        var isEnded = false
        var closure: EngineClosure?
    }

    let handshake: EngineHandshake
    private let requests: PollingRequests
    private let timebase: RelativeClock
    private let state: Locked<State>
    private let early: [EnginePacket]
    private let sendings: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private init(
        _ requests: PollingRequests, _ handshake: EngineHandshake, _ early: [EnginePacket], _ timebase: RelativeClock
    ) {
        self.requests = requests
        self.timebase = timebase
        self.handshake = handshake
        self.early = early
        state = Locked(State(queue: PollingQueue(maxPayload: handshake.maxPayload)))
        (sendings, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Throws: ``EngineOpeningError``, `CancellationError`.
    static func open(_ requests: PollingRequests, timebase: RelativeClock) async throws -> PollingConnection {
        var packets = try await requests.poll(sid: nil, timeout: nil)
        guard case .open(let text) = packets.removeFirst() else {
            throw EngineOpeningError("The server's first packet is not a handshake")
        }
        return PollingConnection(requests, try EngineHandshake(parsing: text), packets, timebase)
    }

    func run(
        _ handler: @escaping @Sendable (EnginePacket) -> Void, taking _: @escaping WebSocketHandler.TextTaker,
        onReadEnd _: @escaping @Sendable () -> Void, onStart: () -> Void,
        onEnd: @escaping @Sendable (EngineClosure) -> Void
    ) async {
        early.forEach(handler)
        onStart()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.poll(handler) }
            group.addTask { await self.post() }
            await group.next()
            // While `close` is still being posted, the other loop ends by itself.
            if state.withLock({ $0.isClosing && $0.closure == nil }) { await group.next() }
            group.cancelAll()
        }
        let closure = state.withLock { state in
            state.isEnded = true
            var closure = state.closure ?? EngineClosure(reason: .closed)
            closure.unsent += state.queue.takeAll().compactMap(\.call)
            return closure
        }
        onEnd(closure)
    }

    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError) {
        let taken: Int? = state.withLock { state in
            guard !state.isClosing, !state.isEnded else { return nil }
            return state.queue.append(contentsOf: frames)
        }
        guard let taken else { throw EngineSendError(reason: .closed) }
        wake.yield()
        if taken < frames.count { throw EngineSendError(reason: .queueFull, taken: taken) }
    }

    func close() {
        let isFirst = state.withLock { state in
            guard !state.isClosing, !state.isEnded else { return false }
            state.isClosing = true
            state.queue.append(EnginePacket.close.frame)
            return true
        }
        if isFirst { wake.yield() }
    }

    /// Records why the session ended. The first reason takes precedence.
    private func end(_ reason: EngineClosure.Reason) {
        state.withLock { state in
            if state.closure == nil { state.closure = EngineClosure(reason: state.isClosing ? .closed : reason) }
        }
    }

    private func poll(_ handler: @Sendable (EnginePacket) -> Void) async {
        var pace = PollingPace()
        while !Task.isCancelled, state.withLock({ $0.closure == nil }) {
            do {
                let asked = timebase.now
                // The session checks the heartbeat. This timeout only keeps a dead request from waiting forever.
                let packets = try await requests.poll(sid: handshake.sid, timeout: handshake.silence * 2)
                let rest = pace.answered(packets, after: timebase.now - asked)
                packets.forEach(handler)
                if packets.contains(.close) { return end(.lost) }
                // The server ends the last poll with a single `noop`.
                if state.withLock({ $0.isClosing }), packets == [.noop] { return }
                if rest > .zero { try await timebase.sleep(until: timebase.now + rest) }
            } catch {
                return failed(error)
            }
        }
    }

    private func post() async {
        for await _ in sendings {
            while let batch = takeBatch() {
                do {
                    try await requests.post(batch, sid: handshake.sid)
                    if batch.last == EnginePacket.close.frame { return end(.closed) }
                } catch {
                    if let error = error as? PollingError, error.neverSent {
                        state.withLock { $0.queue.putBack(batch) }
                    }
                    return failed(error)
                }
            }
            if Task.isCancelled || state.withLock({ $0.closure != nil }) { return }
        }
    }

    private func takeBatch() -> [EngineFrame]? {
        state.withLock { state in
            guard state.closure == nil, !state.queue.isEmpty else { return nil }
            return state.queue.takeBatch()
        }
    }

    private func failed(_ error: any Error) {
        guard let error = error as? PollingError else { return end(.closed) }
        end(error.isInvalid ? .invalid(error.description) : .failed(error.description))
    }
}

/// The frames waiting to be posted, and their division into requests (Engine.IO 4, "maxPayload").
struct PollingQueue: Sendable {
    /// Some servers reject bodies with more packets (python-engineio).
    static let maximumPackets = 16

    private var frames: [EngineFrame] = []
    /// The memory that the frames take up in bytes, including overhead, which dominates for small frames.
    private var bytes = 0
    private let maxPayload: Int

    init(maxPayload: Int) { self.maxPayload = maxPayload }

    var isEmpty: Bool { frames.isEmpty }

    /// Adds frames up to ``TextLimit/standard`` bytes, as over a WebSocket. An empty queue also accepts a larger frame.
    /// - Returns: The number of frames accepted.
    @discardableResult
    mutating func append(contentsOf new: [EngineFrame]) -> Int {
        for (index, frame) in new.enumerated() {
            guard frames.isEmpty || bytes + Self.size(of: frame) <= TextLimit.standard else { return index }
            append(frame)
        }
        return new.count
    }

    /// Adds a frame, regardless of the queue's size.
    mutating func append(_ frame: EngineFrame) {
        frames.append(frame)
        bytes += Self.size(of: frame)
    }

    /// Takes as many frames as fit in one body. A frame that exceeds the limit on its own is sent alone.
    mutating func takeBatch() -> [EngineFrame] {
        var size = 0
        var count = 0
        for frame in frames.prefix(Self.maximumPackets) {
            let added = frame.pollingSize + (count > 0 ? 1 : 0)
            if count > 0, size + added > maxPayload { break }
            size += added
            count += 1
        }
        let batch = Array(frames.prefix(count))
        frames.removeFirst(count)
        bytes -= batch.reduce(0) { $0 + Self.size(of: $1) }
        return batch
    }

    mutating func putBack(_ batch: [EngineFrame]) {
        frames.insert(contentsOf: batch, at: 0)
        bytes += batch.reduce(0) { $0 + Self.size(of: $1) }
    }

    private static func size(of frame: EngineFrame) -> Int { frame.pollingSize + MemoryLayout<EngineFrame>.stride }

    mutating func takeAll() -> [EngineFrame] {
        defer { (frames, bytes) = ([], 0) }
        return frames
    }
}

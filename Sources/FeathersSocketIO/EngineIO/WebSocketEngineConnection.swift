import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

/// An Engine.IO session over a WebSocket, with one packet per frame.
final class WebSocketEngineConnection: EngineConnection {
    private enum Phase {
        /// The session is being opened. Packets are taken one by one with `nextPacket`.
        case opening(received: [EnginePacket], waiting: Promise<EnginePacket>?)
        case running
        case ended
    }

    private struct State {
        var phase = Phase.opening(received: [], waiting: nil)
        /// The memory that the packets received while opening take.
        var earlyBytes = 0
        var handshake: EngineHandshake?
        var isClosedByUs = false
        var closure: EngineClosure?
        /// Called with the end of the running session, unless it has ended.
        var onEnd: (@Sendable (EngineClosure) -> Void)?
    }

    /// The memory that a packet takes in addition to its content, with room to spare.
    private static let packetOverhead = 256

    private let socket: any WebSocketConnection
    private let state = Locked(State())
    /// The handlers of the running session, without a lock for each packet. Safe because they are written once, with
    /// the lock held and before `isRunning` is set (releasing), and read only after it was seen (acquiring). They are
    /// kept until this object is released, which they must not retain.
    nonisolated(unsafe) private var handler: (@Sendable (EnginePacket) -> Void)?
    nonisolated(unsafe) private var take: WebSocketHandler.TextTaker = { _ in false }
    nonisolated(unsafe) private var onReadEnd: @Sendable () -> Void = {}
    private let isRunning = Atomic(false)

    private init(_ socket: any WebSocketConnection) { self.socket = socket }

    static func start(_ socket: any WebSocketConnection) -> WebSocketEngineConnection {
        let connection = WebSocketEngineConnection(socket)
        if let socket = socket as? any LoopedConnection {
            socket.start(
                WebSocketHandler {
                    connection.received($0)
                } readEnded: {
                    connection.readEnded()
                } event: {
                    connection.received($0)
                })
        } else {
            socket.start { connection.received($0) }
        }
        return connection
    }

    var handshake: EngineHandshake {
        state.withLock { $0.handshake }
            ?? EngineHandshake(sid: "", pingInterval: .zero, pingTimeout: .zero, maxPayload: .max)
    }

    /// Waits for the handshake that opens a new session.
    /// - Throws: ``EngineOpeningError``, `CancellationError`.
    func open() async throws {
        switch try await nextPacket() {
        case .open(let text):
            let handshake = try EngineHandshake(parsing: text)
            state.withLock { $0.handshake = handshake }
        default: throw EngineOpeningError("The server's first packet is not a handshake")
        }
    }

    /// Returns the next packet. Only for use before ``run(_:)`` is called.
    private func nextPacket() async throws -> EnginePacket {
        let promise = Promise<EnginePacket>()
        let (early, closure): (EnginePacket?, EngineClosure?) = state.withLock { state in
            guard case .opening(var received, _) = state.phase else { return (nil, state.closure) }
            let first = received.isEmpty ? nil : received.removeFirst()
            if let first { state.earlyBytes -= first.size + Self.packetOverhead }
            state.phase = .opening(received: received, waiting: first == nil ? promise : nil)
            return (first, state.closure)
        }
        if let early { return early }
        if let closure { throw EngineOpeningError(closure) }
        // The end of the connection also ends the wait (see `finish`).
        return try await promise.value()
    }

    func run(
        _ handler: @escaping @Sendable (EnginePacket) -> Void,
        taking take: @escaping WebSocketHandler.TextTaker = { _ in false },
        onReadEnd: @escaping @Sendable () -> Void = {}, onStart: () -> Void = {},
        onEnd: @escaping @Sendable (EngineClosure) -> Void
    ) async {
        // Earlier packets are delivered first. Packets that arrive in the meantime queue behind them.
        while true {
            let (received, closure): ([EnginePacket], EngineClosure?) = state.withLock { state in
                if case .opening(let received, _) = state.phase, !received.isEmpty {
                    state.phase = .opening(received: [], waiting: nil)
                    state.earlyBytes = 0
                    return (received, nil)
                }
                guard state.closure == nil else {
                    state.phase = .ended
                    return ([], state.closure)
                }
                state.phase = .running
                state.onEnd = onEnd
                (self.handler, self.take, self.onReadEnd) = (handler, take, onReadEnd)
                isRunning.store(true, ordering: .releasing)
                return ([], nil)
            }
            if received.isEmpty {
                onStart()
                if let closure { onEnd(closure) }
                return
            }
            received.forEach(handler)
        }
    }

    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError) {
        for (index, frame) in frames.enumerated() {
            do throws(WebSocketError) {
                try socket.sendNow(frame.content)
            } catch {
                throw EngineSendError(reason: error.kind == .queueFull ? .queueFull : .closed, taken: index)
            }
        }
    }

    func close() {
        state.withLock { $0.isClosedByUs = true }
        socket.close(code: 1000, reason: "")
    }

    /// Offers the content of a message to the running session.
    private func received(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isRunning.load(ordering: .acquiring), text.first == UInt8(ascii: "4") else { return false }
        return take(UnsafeBufferPointer(rebasing: text.dropFirst()))
    }

    private func readEnded() { if isRunning.load(ordering: .acquiring) { onReadEnd() } }

    private func received(_ event: WebSocketEvent) {
        switch event {
        case .message(.text(let text)):
            do throws(EngineCodecError) {
                received(try EnginePacket(decoding: text))
            } catch {
                finish(.invalid("\(error)"))
                socket.close(code: 1000, reason: "")
            }
        case .message(.binary(let bytes)): received(.binary(bytes))
        case .closed(let closure): finish(Self.reason(of: closure))
        }
    }

    private func received(_ packet: EnginePacket) {
        if isRunning.load(ordering: .acquiring) {
            handler?(packet)
            return
        }
        enum Recipient {
            case promise(Promise<EnginePacket>)
            case handler, none, overflow
        }
        let recipient: Recipient = state.withLock { state in
            switch state.phase {
            case .opening(_, let promise?):
                state.phase = .opening(received: [], waiting: nil)
                return .promise(promise)
            case .opening(var received, nil):
                // Only their memory is limited, not their number: while the session's task waits for a thread, the
                // server may send any number of events that other clients cause.
                let bytes = state.earlyBytes + packet.size + Self.packetOverhead
                guard received.isEmpty || bytes <= TextLimit.standard else { return .overflow }
                // Releases the array from the state, so that appending does not copy it.
                state.phase = .ended
                received.append(packet)
                state.earlyBytes = bytes
                state.phase = .opening(received: received, waiting: nil)
                return .none
            case .running: return .handler
            case .ended: return .none
            }
        }
        switch recipient {
        case .promise(let promise): promise.resolve(packet)
        case .handler: handler?(packet)
        case .none: break
        case .overflow: finish(.invalid("The server sent too much data before the session was running"))
        }
    }

    private func finish(_ reason: EngineClosure.Reason) {
        enum Recipient {
            case nextPacket(Promise<EnginePacket>, EngineClosure)
            case session(@Sendable (EngineClosure) -> Void, EngineClosure)
            case none
        }
        let recipient: Recipient = state.withLock { state in
            guard state.closure == nil else { return .none }
            let closure = EngineClosure(reason: state.isClosedByUs ? .closed : reason)
            state.closure = closure
            switch state.phase {
            case .opening(_, let promise?):
                state.phase = .ended
                return .nextPacket(promise, closure)
            // Packets that arrived before the end must still be delivered.
            case .opening(let received, nil) where !received.isEmpty: return .none
            case .opening, .running, .ended:
                state.phase = .ended
                defer { state.onEnd = nil }
                return state.onEnd.map { .session($0, closure) } ?? .none
            }
        }
        switch recipient {
        case .nextPacket(let promise, let closure): promise.fail(EngineOpeningError(closure))
        case .session(let onEnd, let closure): onEnd(closure)
        case .none: break
        }
    }

    private static func reason(of closure: WebSocketClosure) -> EngineClosure.Reason {
        if let error = closure.error, error.kind != .connectionLost { return .failed(error.message) }
        switch closure.code {
        case 1000, 1001, 1005, 1006: return .lost
        case 1009: return .failed("A message was larger than the server accepts (1009)")
        default: return .failed("The server closed the WebSocket with code \(closure.code)")
        }
    }
}

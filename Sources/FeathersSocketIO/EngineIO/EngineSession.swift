/// The client's side of an Engine.IO session once it is open: heartbeats and the end.
///
/// Time is how long ago some moment was, on a clock that goes on while the machine sleeps, so that a session that ended meanwhile is
/// known to have ended when the machine wakes, not a timer's length later.
struct EngineSession: Sendable {
    enum Action: Sendable, Hashable {
        case nothing
        case send(EnginePacket)
        case deliver(String)
        case deliverBinary([UInt8])
        case close(Reason)
    }

    enum Reason: Sendable, Hashable {
        /// The server was silent for longer than `pingInterval` and `pingTimeout` together.
        case pingTimeout
        /// The server sent `close`.
        case closedByServer
        /// The server sent what a server may not send now.
        case unexpected(String)
    }

    let handshake: EngineHandshake
    /// When the server counts as gone.
    private(set) var heartbeatDeadline: Duration
    private(set) var isClosed = false

    init(handshake: EngineHandshake, now: Duration) {
        self.handshake = handshake
        heartbeatDeadline = now + handshake.silence
    }

    /// Whether the server has been silent for too long; to be asked before anything is sent.
    func isExpired(at now: Duration) -> Bool { now >= heartbeatDeadline }

    mutating func received(_ packet: EnginePacket, now: Duration) -> Action {
        guard !isClosed else { return .nothing }
        switch packet {
        case .ping(let text):
            // Only pings count as signs of life: that is what the reference client re-arms on.
            heartbeatDeadline = now + handshake.silence
            return .send(.pong(text))
        case .message(let text): return .deliver(text)
        case .binary(let bytes): return .deliverBinary(bytes)
        case .noop, .pong: return .nothing
        case .close: return close(.closedByServer)
        case .open: return close(.unexpected("a second handshake"))
        case .upgrade: return close(.unexpected("an upgrade, which is the client's to send"))
        }
    }

    /// Some time has passed, maybe enough.
    mutating func timePassed(now: Duration) -> Action {
        guard !isClosed, isExpired(at: now) else { return .nothing }
        return close(.pingTimeout)
    }

    private mutating func close(_ reason: Reason) -> Action {
        isClosed = true
        return .close(reason)
    }
}

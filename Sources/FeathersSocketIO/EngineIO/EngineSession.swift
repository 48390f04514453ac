import FeathersCore

/// The client's side of an open Engine.IO session: heartbeats and the end. Times come from a clock that continues while
/// the machine sleeps. So if a session ended during sleep, this is detected as soon as the machine wakes, without
/// waiting for a timer.
struct EngineSession: Sendable {
    enum Action: Sendable, Hashable {
        case nothing
        case send(EnginePacket)
        case close(Reason)
    }

    enum Reason: Sendable, Hashable {
        /// The server was silent for longer than `pingInterval` and `pingTimeout` combined.
        case pingTimeout
        case closedByServer
        /// The server sent a packet that isn't allowed at this point.
        case unexpected(String)
    }

    let handshake: EngineHandshake
    /// When the server is considered unreachable.
    private(set) var heartbeatDeadline: Duration
    private(set) var isClosed = false

    init(handshake: EngineHandshake, now: Duration) {
        self.handshake = handshake
        heartbeatDeadline = now + handshake.silence
    }

    /// Returns whether the server has been silent for too long. Checked before anything is sent.
    func isExpired(at now: Duration) -> Bool { now >= heartbeatDeadline }

    mutating func received(_ packet: EnginePacket, now: Duration) -> Action {
        guard !isClosed else { return .nothing }
        switch packet {
        case .ping(let text):
            // Only pings count as signs of life, as in the reference client.
            heartbeatDeadline = now + handshake.silence
            return .send(.pong(text))
        case .message, .binary, .noop, .pong: return .nothing
        case .close: return close(.closedByServer)
        case .open: return close(.unexpected("a second handshake"))
        }
    }

    mutating func timePassed(now: Duration) -> Action {
        guard !isClosed, isExpired(at: now) else { return .nothing }
        return close(.pingTimeout)
    }

    private mutating func close(_ reason: Reason) -> Action {
        isClosed = true
        return .close(reason)
    }
}

/// The server's handshake, which opens a session (Engine.IO 4, "Handshake"). All of these members are required. Its
/// `upgrades` are ignored, because a session stays on the transport that opened it.
struct EngineHandshake: Sendable, Hashable {
    /// The session's id, a secret shared by client and server.
    var sid: String
    var pingInterval: Duration
    /// The time limit for a response to a ping.
    var pingTimeout: Duration
    var maxPayload: Int

    var silence: Duration { pingInterval + pingTimeout }
}

extension EngineHandshake {
    init(parsing text: String) throws(EngineOpeningError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: text)
        } catch {
            throw EngineOpeningError(handshakeWithout: nil)
        }
        guard let sid = json["sid"]?.string, !sid.isEmpty else { throw EngineOpeningError(handshakeWithout: "sid") }
        self.init(
            sid: sid, pingInterval: try Self.milliseconds(json, "pingInterval"),
            pingTimeout: try Self.milliseconds(json, "pingTimeout"),
            maxPayload: Int(clamping: try Self.positive(json, "maxPayload")))
    }

    private static func milliseconds(_ json: JSONValue, _ member: String) throws(EngineOpeningError) -> Duration {
        .milliseconds(try positive(json, member))
    }

    private static func positive(_ json: JSONValue, _ member: String) throws(EngineOpeningError) -> Int64 {
        // Larger values would overflow timers.
        guard let number = json[member]?.integer, number > 0, number <= 1 << 40 else {
            throw EngineOpeningError(handshakeWithout: member)
        }
        return number
    }
}

extension EngineOpeningError {
    /// The error for a handshake whose member is missing or invalid, or that is not JSON. Does not include the
    /// handshake, which contains the session's id.
    fileprivate init(handshakeWithout member: String?) {
        self.init(member.map { "The server's handshake has no valid '\($0)'" } ?? "The server's handshake is not JSON")
    }
}

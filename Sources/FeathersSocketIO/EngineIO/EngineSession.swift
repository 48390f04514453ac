import FeathersCore

/// The client's side of an Engine.IO session once it is open: heartbeats and the end. Times come from a clock that continues while the
/// machine sleeps. A session that ended meanwhile is therefore known to have ended as soon as the machine wakes, not a timer's length
/// later.
struct EngineSession: Sendable {
    enum Action: Sendable, Hashable {
        case nothing
        case send(EnginePacket)
        case close(Reason)
    }

    enum Reason: Sendable, Hashable {
        /// The server was silent for longer than `pingInterval` and `pingTimeout` together.
        case pingTimeout
        case closedByServer
        /// The server sent a packet that it may not send now.
        case unexpected(String)
    }

    let handshake: EngineHandshake
    /// When the server is considered gone.
    private(set) var heartbeatDeadline: Duration
    private(set) var isClosed = false

    init(handshake: EngineHandshake, now: Duration) {
        self.handshake = handshake
        heartbeatDeadline = now + handshake.silence
    }

    /// Whether the server has been silent for too long; checked before anything is sent.
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
        case .upgrade: return close(.unexpected("an upgrade, which is the client's to send"))
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

/// What a server says when it opens a session (Engine.IO 4, "Handshake"): every member is required.
struct EngineHandshake: Sendable, Hashable {
    /// The session's id, a secret of client and server.
    var sid: String
    var upgrades: [String] = []
    var pingInterval: Duration
    /// How long an answer may take.
    var pingTimeout: Duration
    var maxPayload: Int

    var silence: Duration { pingInterval + pingTimeout }
}

extension EngineHandshake {
    init(parsing text: String) throws(EngineHandshakeError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: text)
        } catch {
            throw EngineHandshakeError(member: nil)
        }
        guard let sid = json["sid"]?.string, !sid.isEmpty else { throw EngineHandshakeError(member: "sid") }
        guard let upgrades = json["upgrades"]?.array else { throw EngineHandshakeError(member: "upgrades") }
        self.init(
            sid: sid, upgrades: upgrades.compactMap(\.string), pingInterval: try Self.milliseconds(json, "pingInterval"),
            pingTimeout: try Self.milliseconds(json, "pingTimeout"), maxPayload: Int(clamping: try Self.positive(json, "maxPayload")))
    }

    private static func milliseconds(_ json: JSONValue, _ member: String) throws(EngineHandshakeError) -> Duration {
        .milliseconds(try positive(json, member))
    }

    private static func positive(_ json: JSONValue, _ member: String) throws(EngineHandshakeError) -> Int64 {
        // Larger values would overflow timers.
        guard let number = json[member]?.integer, number > 0, number <= 1 << 40 else { throw EngineHandshakeError(member: member) }
        return number
    }
}

struct EngineHandshakeError: Error, Hashable, CustomStringConvertible {
    /// The member that is missing or invalid; nil if the text is not JSON.
    let member: String?

    /// Never the handshake itself: it holds the session's id.
    var description: String { member.map { "The server's handshake has no valid '\($0)'" } ?? "The server's handshake is not JSON" }
}

import FeathersCore

/// What a server says when it opens a session (Engine.IO 4, "Handshake"): every member is required.
struct EngineHandshake: Sendable, Hashable {
    /// The session's id, a secret of client and server.
    var sid: String
    /// The transports the session may move to.
    var upgrades: [String]
    /// How often the server pings.
    var pingInterval: Duration
    /// How long an answer may take.
    var pingTimeout: Duration
    /// The most bytes the server accepts at once.
    var maxPayload: Int

    /// How long the server may be silent.
    var silence: Duration { pingInterval + pingTimeout }

    init(sid: String, upgrades: [String] = [], pingInterval: Duration, pingTimeout: Duration, maxPayload: Int) {
        self.sid = sid
        self.upgrades = upgrades
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
        self.maxPayload = maxPayload
    }

    /// Reads the text of an `open` packet.
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
        // What no timer could hold is no interval.
        guard let number = json[member]?.integer, number > 0, number <= 1 << 40 else { throw EngineHandshakeError(member: member) }
        return number
    }
}

/// A handshake that is none.
struct EngineHandshakeError: Error, Hashable, CustomStringConvertible {
    /// The member that is missing or makes no sense; nil where the whole is no JSON.
    let member: String?

    /// Never the handshake itself: it holds the session's id.
    var description: String {
        member.map { "The server's handshake has no valid '\($0)'" } ?? "The server's handshake is no JSON"
    }
}

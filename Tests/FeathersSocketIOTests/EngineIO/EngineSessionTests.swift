import Testing

@testable import FeathersSocketIO

@Suite("The Engine.IO session")
struct EngineSessionTests {
    private let handshake = EngineHandshake(
        sid: "s", pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1_000_000)

    @Test("begins with a handshake of which every member counts")
    func valid() throws {
        let text =
            #"{"sid":"s","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#
        #expect(try EngineHandshake(parsing: text) == handshake)
        #expect(handshake.silence == .seconds(45))
    }

    @Test(
        "refuses a handshake that lacks a member or makes no sense",
        arguments: [
            ("", nil), ("[]", "sid"), (#"{"sid":""}"#, "sid"), (#"{"sid":1}"#, "sid"),
            (#"{"sid":"s"}"#, "pingInterval"),
            (#"{"sid":"s","pingInterval":0}"#, "pingInterval"), (#"{"sid":"s","pingInterval":-1}"#, "pingInterval"),
            (#"{"sid":"s","pingInterval":1e30}"#, "pingInterval"), (#"{"sid":"s","pingInterval":1}"#, "pingTimeout"),
            (#"{"sid":"s","pingInterval":1,"pingTimeout":1}"#, "maxPayload"),
        ] as [(String, String?)])
    func invalid(text: String, member: String?) {
        #expect {
            try EngineHandshake(parsing: text)
        } throws: { error in
            guard let error = error as? EngineOpeningError else { return false }
            return error.description
                == "The server's handshake \(member.map { "has no valid '\($0)'" } ?? "is not JSON")"
        }
    }

    @Test(
        "answers pings with their own text and leaves messages alone",
        arguments: [
            (EnginePacket.ping(""), EngineSession.Action.send(.pong(""))), (.ping("x"), .send(.pong("x"))),
            (.message("a"), .nothing),
            (.binary([1]), .nothing), (.noop, .nothing), (.pong(""), .nothing), (.close, .close(.closedByServer)),
            (.open("{}"), .close(.unexpected("a second handshake"))),
        ])
    func received(packet: EnginePacket, action: EngineSession.Action) {
        var session = EngineSession(handshake: handshake, now: .zero)
        #expect(session.received(packet, now: .zero) == action)
    }

    @Test("is over when the server was silent for too long, and only pings count as signs of life")
    func heartbeat() {
        var session = EngineSession(handshake: handshake, now: .seconds(100))
        #expect(session.heartbeatDeadline == .seconds(145))
        _ = session.received(.message("a"), now: .seconds(140))
        #expect(session.heartbeatDeadline == .seconds(145))
        _ = session.received(.ping(""), now: .seconds(140))
        #expect(session.heartbeatDeadline == .seconds(185))
        #expect(session.timePassed(now: .seconds(184)) == .nothing)
        #expect(!session.isExpired(at: .seconds(184)))
        #expect(session.isExpired(at: .seconds(185)))
        #expect(session.timePassed(now: .seconds(185)) == .close(.pingTimeout))
    }

    @Test("says once that it is over and nothing after that")
    func once() {
        var session = EngineSession(handshake: handshake, now: .zero)
        #expect(session.timePassed(now: .seconds(46)) == .close(.pingTimeout))
        #expect(session.timePassed(now: .seconds(47)) == .nothing)
        #expect(session.received(.ping(""), now: .seconds(47)) == .nothing)
        #expect(session.received(.close, now: .seconds(47)) == .nothing)
        #expect(session.isClosed)
    }
}

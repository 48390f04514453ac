import FeathersCore
import Testing

@testable import FeathersSocketIO

@Suite("The Socket.IO session")
struct SocketSessionTests {
    private func joined(_ data: JSONValue = ["sid": "s"]) -> SocketSession {
        var session = SocketSession()
        _ = session.engineOpened(auth: nil)
        _ = session.received(SocketPacket(.connect, data: data))
        return session
    }

    @Test("joins with the authentication's payload, or none")
    func connect() {
        var session = SocketSession(namespace: "/admin")
        #expect(session.engineOpened(auth: nil) == SocketPacket(.connect, namespace: "/admin"))
        #expect(session.engineOpened(auth: [:]) == SocketPacket(.connect, namespace: "/admin", data: [:]))
        #expect(
            session.engineOpened(auth: ["token": "t"])
                == SocketPacket(.connect, namespace: "/admin", data: ["token": "t"]))
        #expect(!session.isJoined)
        #expect(
            session.received(SocketPacket(.connect, namespace: "/admin", data: ["sid": "s"]))
                == .connected(recovered: false, early: []))
        #expect(session.isJoined)
    }

    @Test(
        "acts on what the server sends",
        arguments: [
            (
                SocketPacket(.event, data: ["a created", 1]),
                SocketSession.Action.event(arguments: ["a created", 1], id: nil)
            ),
            (SocketPacket(.event, id: 4, data: ["ask"]), .event(arguments: ["ask"], id: 4)),
            (SocketPacket(.ack, id: 4, data: [nil, 1]), .acknowledged(id: 4, arguments: [nil, 1])),
            (SocketPacket(.ack, data: []), .violated("an acknowledgement without an id")),
            (SocketPacket(.disconnect), .disconnectedByServer),
            (SocketPacket(.connectError, data: ["message": "no", "data": 1]), .refused(message: "no", data: 1)),
            (SocketPacket(.connectError, data: "no"), .refused(message: "no", data: nil)),
            (SocketPacket(.connect, data: ["sid": "again"]), .nothing),
            (SocketPacket(.event, namespace: "/other", data: ["a"]), .nothing),
        ])
    func received(packet: SocketPacket, action: SocketSession.Action) {
        var session = joined()
        #expect(session.received(packet) == action)
    }

    @Test("says that a server of Socket.IO 2 is none of ours", arguments: [nil, [:], ["sid": 1]] as [JSONValue?])
    func version2(data: JSONValue?) {
        var session = SocketSession()
        _ = session.engineOpened(auth: nil)
        #expect(
            session.received(SocketPacket(.connect, data: data))
                == .violated("the server responded to CONNECT without a session id, as Socket.IO 2 does"))
    }

    @Test("keeps events that come before the answer to CONNECT, up to a limit")
    func early() {
        var session = SocketSession()
        _ = session.engineOpened(auth: nil)
        let event = SocketPacket(.event, data: ["early"])
        for _ in 0..<SocketSession.maximumEarlyEvents { #expect(session.received(event) == .nothing) }
        var copy = session
        #expect(copy.received(event) == .violated("too many events before the response to CONNECT"))
        let expected = [SocketPacket](repeating: event, count: SocketSession.maximumEarlyEvents)
        #expect(
            session.received(SocketPacket(.connect, data: ["sid": "s"]))
                == .connected(recovered: false, early: expected))
    }

    @Test("keeps no more than 4 MiB of events that come before the answer to CONNECT")
    func earlyBytes() {
        var session = SocketSession()
        _ = session.engineOpened(auth: nil)
        var event = SocketPacket(.event, data: ["early"])
        event.size = SocketSession.maximumEarlyBytes / 2
        #expect(session.received(event) == .nothing)
        #expect(session.received(event) == .nothing)
        event.size = 1
        var copy = session
        #expect(copy.received(event) == .violated("too many events before the response to CONNECT"))
        // The next connection has as much room.
        session.engineClosed()
        _ = session.engineOpened(auth: nil)
        event.size = SocketSession.maximumEarlyBytes
        #expect(session.received(event) == .nothing)
        #expect(
            session.received(SocketPacket(.connect, data: ["sid": "s"])) == .connected(recovered: false, early: [event])
        )
    }

    @Test("recovers with its id and the last offset")
    func recovery() {
        var session = joined(["sid": "s", "pid": "p"])
        _ = session.received(SocketPacket(.event, data: ["todos created", ["a": 1], "offset1"]))
        _ = session.received(SocketPacket(.event, data: ["todos created", ["a": 1]]))
        session.engineClosed()
        #expect(session.received(SocketPacket(.event, data: ["late"])) == .nothing)
        let connect = session.engineOpened(auth: ["token": "t"])
        #expect(connect.data.map { "\($0)" } == #"{"pid":"p","offset":"offset1","token":"t"}"#)
        #expect(
            session.received(SocketPacket(.connect, data: ["sid": "s", "pid": "p"]))
                == .connected(recovered: true, early: []))
    }

    @Test("knows when a session was not recovered")
    func notRecovered() {
        var session = joined(["sid": "s", "pid": "p"])
        _ = session.received(SocketPacket(.event, data: ["e", "offset"]))
        session.engineClosed()
        _ = session.engineOpened(auth: nil)
        #expect(
            session.received(SocketPacket(.connect, data: ["sid": "s2", "pid": "p2"]))
                == .connected(recovered: false, early: []))
        session.engineClosed()
        #expect(session.engineOpened(auth: nil).data == ["pid": "p2"])
    }

    @Test("takes no offset from servers that keep none, and none from an event's name")
    func noOffset() {
        var session = joined()
        _ = session.received(SocketPacket(.event, data: ["a", "text"]))
        session.engineClosed()
        #expect(session.engineOpened(auth: nil).data == nil)
        session = joined(["sid": "s", "pid": "p"])
        _ = session.received(SocketPacket(.event, data: ["a"]))
        session.engineClosed()
        #expect(session.engineOpened(auth: nil).data == ["pid": "p"])
    }

    @Test("forgets a session the server ended")
    func serverDisconnect() {
        var session = joined(["sid": "s", "pid": "p"])
        #expect(session.received(SocketPacket(.disconnect)) == .disconnectedByServer)
        #expect(session.received(SocketPacket(.event, data: ["a"])) == .nothing)
        #expect(session.engineOpened(auth: nil).data == nil)
    }
}

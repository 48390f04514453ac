import Testing

@testable import FeathersNetworking

@Suite("The closing handshake")
struct WebSocketClosingTests {
    private let lost = WebSocketError(.connectionLost, "lost")

    @Test("begun by us ends with the peer's answer")
    func ours() {
        var closing = WebSocketClosing()
        let sent = closing.closeRequested(WebSocketCloseFrame(code: 1001, reason: "bye"))
        #expect(sent.send == WebSocketCloseFrame(code: 1001, reason: "bye") && sent.finish == nil)
        #expect(!closing.isOpen && !closing.isOver)
        #expect(closing.closeRequested(WebSocketCloseFrame(code: 1000)).send == nil)
        let ended = closing.receivedClose(WebSocketCloseFrame(code: 1001))
        #expect(ended.send == nil && ended.finish?.code == 1001 && ended.finish?.error == nil)
    }

    @Test("begun by the peer is answered with its code", arguments: [1000, 1001, 1011, 4001] as [UInt16])
    func theirs(code: UInt16) {
        var closing = WebSocketClosing()
        let ended = closing.receivedClose(WebSocketCloseFrame(code: code, reason: "why"))
        #expect(ended.send == WebSocketCloseFrame(code: code))
        #expect(ended.finish?.code == code && ended.finish?.reason == "why" && ended.finish?.error == nil)
    }

    @Test("without a code counts as 1005 and is answered with 1000")
    func withoutCode() throws {
        var closing = WebSocketClosing()
        let ended = closing.receivedClose(try WebSocketCloseFrame(payload: []))
        #expect(ended.send?.code == 1000 && ended.finish?.code == 1005)
    }

    @Test(
        "tells the peer what it did wrong",
        arguments: [(1002, .protocolViolation), (1007, .protocolViolation), (1009, .messageTooLarge)]
            as [(UInt16, WebSocketError.Kind)])
    func violations(code: UInt16, kind: WebSocketError.Kind) {
        var closing = WebSocketClosing()
        let ended = closing.receivedViolation(WebSocketViolation(closeCode: code, message: "what"))
        #expect(ended.send?.code == code)
        #expect(
            ended.finish?.code == 1006 && ended.finish?.error?.kind == kind && ended.finish?.error?.message == "what")
    }

    @Test("does not wait for ever")
    func deadline() {
        var closing = WebSocketClosing()
        #expect(closing.deadlinePassed().finish == nil)
        _ = closing.closeRequested(WebSocketCloseFrame(code: 1000))
        #expect(closing.deadlinePassed().finish?.error?.kind == .timeout)
    }

    @Test("says goodbye for an owner who has gone")
    func abandoned() {
        var closing = WebSocketClosing()
        let ended = closing.abandoned()
        #expect(ended.send?.code == 1001 && ended.finish?.error?.kind == .closed)
    }

    @Test("ends once, whatever order things happen in")
    func once() {
        let frame = WebSocketCloseFrame(code: 1000)
        let happenings: [(inout WebSocketClosing) -> WebSocketClosing.Action] = [
            { $0.closeRequested(frame) }, { $0.receivedClose(frame) }, { $0.receivedViolation(.protocolError("x")) },
            { $0.lost(lost) },
            { $0.deadlinePassed() }, { $0.abandoned() },
        ]
        for first in happenings {
            for second in happenings {
                for third in happenings {
                    var closing = WebSocketClosing()
                    let actions = [first(&closing), second(&closing), third(&closing), closing.lost(lost)]
                    #expect(actions.compactMap(\.finish).count == 1)
                    #expect(actions.compactMap(\.send).count <= 1)
                    #expect(closing.isOver)
                }
            }
        }
    }
}

import FeathersCore
import Testing

@testable import FeathersSocketIO

@Suite("Socket.IO packets with attachments")
struct BinaryPacketTests {
    private let placeholder: @Sendable (Int64) -> JSONValue = { ["_placeholder": true, "num": .integer($0)] }

    @Test("are put together once all attachments are there")
    func together() throws {
        var decoder = SocketPacketDecoder()
        let text = #"52-/x,7["a",{"_placeholder":true,"num":1},{"b":[{"_placeholder":true,"num":0}]}]"#
        #expect(try decoder.received(text) == nil)
        #expect(try decoder.received(attachment: [1, 2, 3]) == nil)
        let packet = try decoder.received(attachment: [4])
        #expect(packet == SocketPacket(.event, namespace: "/x", id: 7, data: ["a", "BA==", ["b": ["AQID"]]]))
        #expect(try decoder.received(#"60-1[1]"#) == SocketPacket(.ack, id: 1, data: [1]))
    }

    @Test("leave placeholders of packets without attachments as they are")
    func untouched() throws {
        var decoder = SocketPacketDecoder()
        #expect(try decoder.received(#"2["a",{"_placeholder":true,"num":0}]"#)?.data == ["a", placeholder(0)])
    }

    @Test(
        "are refused where a placeholder names no attachment",
        arguments: ["-1", "1", "null", #""0""#, "0.5", "99999999999999999999"])
    func illegal(number: String) throws {
        var decoder = SocketPacketDecoder()
        _ = try decoder.received(#"51-["a",{"_placeholder":true,"num":\#(number)}]"#)
        #expect(throws: SocketPacketError(.illegalPlaceholder)) { try decoder.received(attachment: [1]) }
    }

    @Test("are refused where text comes for bytes or bytes come unasked")
    func outOfOrder() throws {
        var decoder = SocketPacketDecoder()
        #expect(throws: SocketPacketError(.unexpectedAttachment)) { try decoder.received(attachment: [1]) }
        _ = try decoder.received(#"51-["a"]"#)
        #expect(throws: SocketPacketError(.textInsteadOfAttachment)) { try decoder.received(#"2["a"]"#) }
    }

    @Test("are limited in number and size")
    func limits() throws {
        var decoder = SocketPacketDecoder(limits: .init(attachments: 20, bytes: 100))
        #expect(throws: SocketPacketError(.tooManyAttachments(limit: 20), at: 1)) {
            try decoder.received(#"521-["a"]"#)
        }
        _ = try decoder.received(#"520-["a"]"#)
        _ = try decoder.received(attachment: [UInt8](repeating: 0, count: 90))
        #expect(throws: SocketPacketError(.tooLarge(limit: 100))) { try decoder.received(attachment: [1, 2, 3]) }
    }
}

import FeathersCore
import Testing

@testable import FeathersSocketIO

@Suite("Socket.IO packets")
struct SocketPacketTests {
    static let packets: [(String, SocketPacket)] = [
        ("0", SocketPacket(.connect)), (#"0{"token":"t"}"#, SocketPacket(.connect, data: ["token": "t"])),
        ("0/admin,", SocketPacket(.connect, namespace: "/admin")),
        (#"0/admin,{"a":1}"#, SocketPacket(.connect, namespace: "/admin", data: ["a": 1])),
        ("1", SocketPacket(.disconnect)), ("1/admin,", SocketPacket(.disconnect, namespace: "/admin")),
        (#"2["find","messages",{}]"#, SocketPacket(.event, data: ["find", "messages", [:]])),
        (#"20["find"]"#, SocketPacket(.event, id: 0, data: ["find"])),
        (#"2123["a",null]"#, SocketPacket(.event, id: 123, data: ["a", nil])),
        (#"2/admin,456["a"]"#, SocketPacket(.event, namespace: "/admin", id: 456, data: ["a"])),
        ("2[1]", SocketPacket(.event, data: [1])),
        ("3[]", SocketPacket(.ack, data: [])),
        (#"312[null,{"a":1}]"#, SocketPacket(.ack, id: 12, data: [nil, ["a": 1]])),
        (#"3/x,0["ü"]"#, SocketPacket(.ack, namespace: "/x", id: 0, data: ["ü"])),
        (#"4"no""#, SocketPacket(.connectError, data: "no")),
        (#"4{"message":"no"}"#, SocketPacket(.connectError, data: ["message": "no"])),
        (
            #"4/nope,{"message":"Invalid namespace"}"#,
            SocketPacket(.connectError, namespace: "/nope", data: ["message": "Invalid namespace"])
        ),
    ]

    @Test("are read and written alike", arguments: packets)
    func both(text: String, packet: SocketPacket) throws {
        var decoder = SocketPacketDecoder()
        #expect(try decoder.received(text) == packet)
        #expect(try packet.frame() == EngineFrame(text: "4" + text))
    }

    @Test(
        "are read the same after events that begin alike",
        arguments: [
            #"2["m created",{"id":3}]"#, #"2["m created",{"id":3},"offset"]"#, #"2["m created",{}]"#,
            #"2["m created",3]"#, #"2["m created",{"a":[{}]} ]"#, #"2["m created"]"#, #"2["m created",{"id":3},{}]"#,
            #"27["m created",{"id":3}]"#, #"2/m,["m created",{"id":3}]"#, #"2["m removed",{"id":3}]"#,
        ])
    func repeated(text: String) throws {
        var (decoder, fresh) = (SocketPacketDecoder(), SocketPacketDecoder())
        for id in 1...3 { _ = try decoder.received(#"2["m created",{"id":\#(id)}]"#) }
        let (packet, expected) = (try decoder.received(text), try fresh.received(text))
        #expect(packet == expected)
        #expect(packet?.size == expected?.size)
    }

    @Test(
        "are refused the same after events that begin alike",
        arguments: [
            #"2["m created",{"id":3]"#, #"2["m created",{"id":3}"#, #"2["m created",{"id":3}]]"#, #"2["m created",{]"#,
            #"2["m created","# + String(repeating: #"{"a":"#, count: JSONValue.defaultMaximumDepth) + "1"
                + String(repeating: "}", count: JSONValue.defaultMaximumDepth) + "]",
        ])
    func repeatedErrors(text: String) throws {
        var (decoder, fresh) = (SocketPacketDecoder(), SocketPacketDecoder())
        for id in 1...3 { _ = try decoder.received(#"2["m created",{"id":\#(id)}]"#) }
        let expected = try #require(throws: SocketPacketError.self) { try fresh.received(text) }
        #expect(throws: expected) { try decoder.received(text) }
    }

    @Test("may end with a namespace, with or without its comma")
    func bareNamespace() throws {
        var decoder = SocketPacketDecoder()
        #expect(try decoder.received("0/admin") == SocketPacket(.connect, namespace: "/admin"))
        #expect(try decoder.received("1/") == SocketPacket(.disconnect, namespace: "/"))
    }

    @Test(
        "are refused with the place at fault",
        arguments: [
            ("", .empty, 0), ("7", .unknownType(0x37), 0), ("x", .unknownType(0x78), 0), ("/", .unknownType(0x2F), 0),
            ("é", .unknownType(0xC3), 0),
            ("2", .invalidPayload(.event), 1), ("20", .invalidPayload(.event), 2), ("2{}", .invalidPayload(.event), 1),
            ("2[]", .invalidPayload(.event), 1),
            ("2[null]", .invalidPayload(.event), 1), ("2[{}]", .invalidPayload(.event), 1),
            ("2[[]]", .invalidPayload(.event), 1),
            ("2[true]", .invalidPayload(.event), 1), (#"2"a""#, .invalidPayload(.event), 1),
            (#"2/a,7["connect"]"#, .reservedName("connect"), 5),
            (#"2["connect_error"]"#, .reservedName("connect_error"), 1),
            (#"2["disconnect"]"#, .reservedName("disconnect"), 1),
            (#"2["disconnecting"]"#, .reservedName("disconnecting"), 1),
            (#"2["newListener"]"#, .reservedName("newListener"), 1),
            (#"2["removeListener"]"#, .reservedName("removeListener"), 1), ("30", .invalidPayload(.ack), 2),
            ("30{}", .invalidPayload(.ack), 2),
            ("0[]", .invalidPayload(.connect), 1), ("0null", .invalidPayload(.connect), 1),
            (#"0"a""#, .invalidPayload(.connect), 1),
            ("1{}", .invalidPayload(.disconnect), 1), ("1null", .invalidPayload(.disconnect), 1),
            ("4", .invalidPayload(.connectError), 1),
            ("4[]", .invalidPayload(.connectError), 1), ("4null", .invalidPayload(.connectError), 1),
            ("4/n,", .invalidPayload(.connectError), 4),
            (#"2["a""#, .invalidJSON(.unexpectedEnd), 5), (#"20["a",]"#, .invalidJSON(.unexpectedByte(0x5D)), 7),
            (#"2["a"]x"#, .invalidJSON(.trailingBytes), 6),
            ("299999999999999999999[]", .illegalID, 1), ("5", .illegalAttachmentCount, 1),
            ("5-[]", .illegalAttachmentCount, 1),
            (#"51["a"]"#, .illegalAttachmentCount, 1), (#"5x-["a"]"#, .illegalAttachmentCount, 1),
            (#"5-1-["a"]"#, .illegalAttachmentCount, 1),
            (#"51.5-["a"]"#, .illegalAttachmentCount, 1), (#"511-["a"]"#, .tooManyAttachments(limit: 10), 1),
            (#"599999999999999999999-["a"]"#, .tooManyAttachments(limit: 10), 1),
            ("61-{}", .invalidPayload(.binaryAck), 3),
            ("51-[]", .invalidPayload(.binaryEvent), 3),
        ] as [(String, SocketPacketError.Reason, Int)])
    func refused(text: String, reason: SocketPacketError.Reason, offset: Int) {
        var decoder = SocketPacketDecoder()
        #expect(throws: SocketPacketError(reason, at: offset)) { try decoder.received(text) }
    }

    @Test("never print what they hold")
    func secrets() {
        var decoder = SocketPacketDecoder()
        let error = #expect(throws: SocketPacketError.self) { try decoder.received(#"0["secret"]"#) }
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test("cannot be larger than accepted")
    func tooLarge() {
        var decoder = SocketPacketDecoder(limits: .init(bytes: 10))
        #expect(throws: SocketPacketError(.tooLarge(limit: 10))) { try decoder.received(#"2["0123456789"]"#) }
    }
}

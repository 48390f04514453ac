import Testing

@testable import FeathersSocketIO

@Suite("Engine.IO packets")
struct EnginePacketTests {
    static let packets: [(String, EnginePacket)] = [
        (#"0{"sid":"a"}"#, .open(#"{"sid":"a"}"#)), ("1", .close), ("2", .ping("")), ("2probe", .ping("probe")),
        ("3", .pong("")),
        ("3probe", .pong("probe")), ("4", .message("")), ("4hello", .message("hello")), ("4ü€😀", .message("ü€😀")),
        ("6", .noop),
    ]

    @Test("are read and written alike", arguments: packets)
    func both(text: String, packet: EnginePacket) throws {
        #expect(try EnginePacket(decoding: text) == packet)
        #expect(packet.frame == EngineFrame(text: text))
    }

    @Test(
        "are refused with the place at fault",
        arguments: [
            ("", EngineCodecError(reason: .empty, offset: 0)),
            ("7", EngineCodecError(reason: .unknownType(0x37), offset: 0)),
            // Only clients send it, to move a session to another transport.
            ("5", EngineCodecError(reason: .unknownType(0x35), offset: 0)),
            ("x nonsense", EngineCodecError(reason: .unknownType(0x78), offset: 0)),
            ("b", EngineCodecError(reason: .unknownType(0x62), offset: 0)),
            ("ü", EngineCodecError(reason: .unknownType(0xC3), offset: 0)),
            (" 4", EngineCodecError(reason: .unknownType(0x20), offset: 0)),
        ])
    func refused(text: String, error: EngineCodecError) {
        #expect(throws: error) { try EnginePacket(decoding: text) }
    }

    @Test("measure their size as each transport counts it")
    func size() {
        #expect(EngineFrame(text: "4ü").size == 3)
        #expect(EngineFrame(text: "4ü").pollingSize == 3)
        #expect(EngineFrame(binary: [1, 2, 3, 4]).size == 4)
        #expect(EngineFrame(binary: [1, 2, 3, 4]).pollingSize == 9)
    }
}

import Testing

@testable import FeathersNetworking

@Suite("What breaks the protocol is refused")
struct WebSocketViolationTests {
    static let refused: [(String, [ServerFrame], UInt16)] = [
        ("the first reserved bit", [ServerFrame(opcode: 1, payload: [120], reserved: 4)], 1002),
        ("the second reserved bit", [ServerFrame(opcode: 1, reserved: 2)], 1002),
        ("the third reserved bit", [ServerFrame(opcode: 9, reserved: 1)], 1002),
        ("a masked frame", [ServerFrame(opcode: 1, payload: [120], isMasked: true)], 1002),
        ("a masked ping", [ServerFrame(opcode: 9, isMasked: true)], 1002),
        ("a continuation of nothing", [.continuation([120])], 1002),
        ("a continuation after the end", [.text("a", isFinal: false), .continuation([98]), .continuation([99])], 1002),
        ("a message within a message", [.text("a", isFinal: false), .text("b")], 1002),
        ("a binary message within an empty one", [.text("", isFinal: false), .binary([1])], 1002),
        ("a fragmented ping", [ServerFrame(opcode: 9, payload: [120], isFinal: false)], 1002),
        ("a fragmented close", [ServerFrame(opcode: 8, isFinal: false)], 1002),
        ("a ping of 126 bytes", [.ping(String(repeating: "x", count: 126))], 1002),
        ("a pong said to be huge", [ServerFrame(opcode: 10, form: .eight, statedLength: 1 << 20)], 1002),
        (
            "125 written in two bytes",
            [ServerFrame(opcode: 1, payload: .init(repeating: 120, count: 125), form: .two)], 1002
        ),
        ("5 written in two bytes", [ServerFrame(opcode: 1, payload: Array("hello".utf8), form: .two)], 1002),
        ("5 written in eight bytes", [ServerFrame(opcode: 1, payload: Array("hello".utf8), form: .eight)], 1002),
        ("65535 written in eight bytes", [ServerFrame(opcode: 2, form: .eight, statedLength: 65535)], 1002),
        ("the highest bit of a length", [ServerFrame(opcode: 2, statedLength: 1 << 63)], 1002),
        ("the greatest length", [ServerFrame(opcode: 2, statedLength: .max)], 1002),
        ("2⁶² bytes", [ServerFrame(opcode: 1, statedLength: 1 << 62)], 1009),
        ("2⁶³ - 1 bytes", [ServerFrame(opcode: 1, statedLength: 1 << 63 - 1)], 1009),
        (
            "2⁶³ - 1 bytes after some",
            [.binary([1], isFinal: false), ServerFrame(opcode: 0, statedLength: 1 << 63 - 1)], 1009
        ),
        ("text that is no UTF-8", [ServerFrame(opcode: 1, payload: [0xFF, 0xFE])], 1007),
        ("text with a surrogate", [ServerFrame(opcode: 1, payload: [0xED, 0xA0, 0x80])], 1007),
        ("text with an overlong form", [ServerFrame(opcode: 1, payload: [0xC0, 0xAF])], 1007),
        ("text that ends in a character", [ServerFrame(opcode: 1, payload: [0xE2, 0x82])], 1007),
        (
            "half a character, then another",
            [ServerFrame(opcode: 1, payload: [0xE2, 0x82], isFinal: false), .continuation([120])], 1007
        ),
        ("half a close code", [.close(nil, [3])], 1002),
        ("a close reason that is no UTF-8", [.close(1000, [0xFF])], 1007),
        ("a close of 126 bytes", [.close(1000, .init(repeating: 120, count: 124))], 1002),
    ]

    @Test("with the close code it earns, whole or byte by byte, and nothing after it is read", arguments: refused)
    func refuses(name: String, frames: [ServerFrame], code: UInt16) {
        for pieces in [[Int.max], [1]] {
            let received = Received(([.text("before")] + frames + [.text("after")]).flatMap(\.bytes), pieces: pieces)
            #expect(received.violation?.closeCode == code)
            #expect(received.incoming.first == .message(.text("before")))
            #expect(!received.incoming.contains(.message(.text("after"))))
        }
    }

    @Test("reserved opcodes", arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
    func opcodes(opcode: UInt8) {
        let received = Received(ServerFrame(opcode: opcode).bytes)
        #expect(received.violation == .protocolError("A frame has the reserved opcode \(opcode)"))
    }

    @Test(
        "close codes that never travel",
        arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65535] as [UInt16])
    func closeCodes(code: UInt16) {
        #expect(Received(ServerFrame.close(code).bytes).violation?.closeCode == 1002)
        #expect(WebSocketCloseFrame(code: code).code == 1000)
    }

    @Test(
        "close codes that may travel",
        arguments: [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999] as [UInt16])
    func allowedCloseCodes(code: UInt16) {
        #expect(Received(ServerFrame.close(code).bytes).incoming == [.close(WebSocketCloseFrame(code: code))])
    }
}

import FeathersSupport
import Testing

@testable import FeathersNetworking

@Suite("What the server sends is read")
struct WebSocketReceiverTests {
    static let long = String(repeating: "ä", count: 200)
    static let accepted: [(String, [ServerFrame], [WebSocketIncoming])] = [
        ("a text message", [.text("hi")], [.message(.text("hi"))]),
        ("a binary message", [.binary([0, 255])], [.message(.binary([0, 255]))]),
        ("empty messages", [.text(""), .binary([])], [.message(.text("")), .message(.binary([]))]),
        ("a length in two bytes", [.text(long)], [.message(.text(long))]),
        (
            "a length in eight bytes", [.binary(.init(repeating: 7, count: 70_000))],
            [.message(.binary(.init(repeating: 7, count: 70_000)))]
        ),
        (
            "fragments", [.text("a", isFinal: false), .continuation([98], isFinal: false), .continuation([99])],
            [.message(.text("abc"))]
        ),
        (
            "empty fragments",
            [.text("", isFinal: false), .continuation([], isFinal: false), .continuation([111, 107])],
            [.message(.text("ok"))]
        ),
        ("nothing but empty fragments", [.binary([], isFinal: false), .continuation([])], [.message(.binary([]))]),
        (
            "a character split across fragments",
            [ServerFrame(opcode: 1, payload: [0xE2, 0x82], isFinal: false), .continuation([0xAC])],
            [.message(.text("€"))]
        ),
        (
            "control frames between fragments",
            [
                .text("hel", isFinal: false), .ping("p"), ServerFrame(opcode: 10, payload: [1]),
                .continuation(Array("lo".utf8)),
            ],
            [.ping([112]), .pong([1]), .message(.text("hello"))]
        ),
        (
            "a ping of 125 bytes", [.ping(String(repeating: "p", count: 125))],
            [.ping(.init(repeating: 112, count: 125))]
        ),
        ("an empty close", [.close(nil)], [.close(closeFrame(nil))]),
        ("a close with a reason", [.close(4001, Array("bye".utf8))], [.close(closeFrame(4001, "bye"))]),
        ("a close between fragments", [.text("a", isFinal: false), .close(1001)], [.close(closeFrame(1001))]),
        ("nothing after a close", [.close(1000), .text("late"), ServerFrame(opcode: 3)], [.close(closeFrame(1000))]),
    ]

    @Test("whole, and in any two pieces, and byte by byte", arguments: accepted)
    func accepts(name: String, frames: [ServerFrame], incoming: [WebSocketIncoming]) {
        let bytes = frames.flatMap(\.bytes)
        let places = bytes.count < 1000 ? Array(1..<bytes.count) : [1, 2, 9, 10, 11, bytes.count - 1]
        for pieces in [[Int.max], [1]] + places.map({ [$0, .max] }) {
            let received = Received(bytes, pieces: pieces)
            #expect(received.incoming == incoming)
            #expect(received.violation == nil)
        }
    }

    @Test(
        "not before its last byte",
        arguments: [ServerFrame.text("hello"), .binary(.init(repeating: 1, count: 300)), .ping("x"), .close(1000)])
    func incomplete(frame: ServerFrame) {
        for length in 1..<frame.bytes.count {
            let received = Received(Array(frame.bytes.prefix(length)))
            #expect(received.incoming.isEmpty && received.violation == nil)
        }
    }

    @Test("messages up to the limit and not a byte more, however fragmented")
    func limit() {
        let half = [UInt8](repeating: 1, count: 50)
        #expect(Received(ServerFrame.binary(half + half).bytes, maximumMessageSize: 100).violation == nil)
        let whole = Received(ServerFrame.binary(half + half + [1]).bytes, maximumMessageSize: 100)
        #expect(whole.violation?.closeCode == 1009)
        let fragments = [
            ServerFrame.binary(half, isFinal: false), .continuation(half, isFinal: false), .continuation([1]),
        ]
        let received = Received(fragments.flatMap(\.bytes), maximumMessageSize: 100)
        #expect(received.violation?.closeCode == 1009 && received.incoming.isEmpty)
        // The next message starts from nothing again.
        let two = [ServerFrame.binary(half + half), .binary(half, isFinal: false), .continuation(half)]
        #expect(Received(two.flatMap(\.bytes), maximumMessageSize: 100).incoming.count == 2)
    }

    @Test("no further than as many frames as are allowed, fragments and control frames among them")
    func allowance() throws {
        let frames = [ServerFrame.text("a", isFinal: false), .continuation([98]), .ping(""), .text("c")]
        let bytes = frames.flatMap(\.bytes)
        try bytes.withUnsafeBytes { all in
            var receiver = WebSocketReceiver(maximumMessageSize: 100)
            var rest = all
            var taken: [[WebSocketIncoming]] = []
            for allowance in [1, 2, 1] {
                receiver.allowance = allowance
                var incoming: [WebSocketIncoming] = []
                while let next = try receiver.next(&rest) { incoming.append(next) }
                taken.append(incoming)
            }
            #expect(taken == [[], [.message(.text("ab")), .ping([])], [.message(.text("c"))]])
            #expect(rest.isEmpty)
        }
    }

    @Test("with large texts unchecked, in however many pieces they come", arguments: [[Int.max], [1], [7]])
    func largeTexts(pieces: [Int]) {
        let noText = [UInt8](repeating: 0xFF, count: 10)
        let frames = [
            ServerFrame.text("123456789"), ServerFrame(opcode: 1, payload: noText), .text("abcde", isFinal: false),
            .continuation(Array("fghij".utf8)), .binary(noText), .text("a"),
        ]
        let received = Received(frames.flatMap(\.bytes), pieces: pieces, largeText: 10)
        #expect(
            received.incoming == [
                .message(.text("123456789")), .largeText(noText), .largeText(Array("abcdefghij".utf8)),
                .message(.binary(noText)),
                .message(.text("a")),
            ])
        #expect(received.violation == nil)
    }

    @Test("and offers ASCII texts in one piece to its handler first, which keeps those it wants, within the allowance")
    func offers() throws {
        let frames = [
            ServerFrame.text("keep"), .text("leave"), .text("ä"), .text("ke", isFinal: false),
            .continuation(Array("ep".utf8)),
            .binary(Array("keep".utf8)), .text("keep"),
        ]
        let offered = Locked<[String]>([])
        let handler = WebSocketHandler { text in
            let text = String(decoding: text, as: UTF8.self)
            offered.withLock { $0.append(text) }
            return text == "keep"
        } event: {
            Issue.record("The receiver delivers nothing itself, but it delivered \($0)")
        }
        try frames.flatMap(\.bytes).withUnsafeBytes { all in
            var receiver = WebSocketReceiver(maximumMessageSize: 100)
            var (rest, returned) = (all, [WebSocketIncoming]())
            receiver.allowance = frames.count - 1
            while let next = try receiver.next(&rest, offering: handler) { returned.append(next) }
            #expect(
                returned == [
                    .message(.text("leave")), .message(.text("ä")), .message(.text("keep")),
                    .message(.binary(Array("keep".utf8))),
                ])
            #expect(offered.withLock(\.self) == ["keep", "leave"])
            #expect(rest.elementsEqual(frames[frames.count - 1].bytes))
        }
    }

    private static func closeFrame(_ code: UInt16?, _ reason: String = "") -> WebSocketCloseFrame {
        var frame = WebSocketCloseFrame(code: code ?? 1000, reason: reason)
        frame.code = code
        return frame
    }
}

import Foundation
import Testing

@testable import FeathersREST

@Suite("Event streams are read by the HTML standard")
struct EventStreamParserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stream: [UInt8]
        let events: [ServerSentEvent]
        var lastID = ""
        var retry: Duration?

        init(
            _ name: String, _ stream: String, _ events: ServerSentEvent..., lastID: String = "", retry: Duration? = nil
        ) {
            self.init(name, bytes: Array(stream.utf8), events, lastID: lastID, retry: retry)
        }

        init(_ name: String, bytes: [UInt8], _ events: [ServerSentEvent], lastID: String = "", retry: Duration? = nil) {
            (testDescription, stream, self.events, self.lastID, self.retry) = (name, bytes, events, lastID, retry)
        }
    }

    private static func event(_ data: String, _ name: String = "", id: String = "") -> ServerSentEvent {
        ServerSentEvent(name: name, data: Array(data.utf8), id: id)
    }

    static let cases: [Case] = [
        Case("one event", "data: a\n\n", event("a")),
        Case("several lines of data", "data: a\ndata:b\ndata:  c\n\n", event("a\nb\n c")),
        Case("data without a colon, empty data", "data\n\ndata\ndata\n\ndata:test", event(""), event("\n")),
        Case("carriage returns", "data: a\rdata: b\r\rdata: c\r\r", event("a\nb"), event("c")),
        Case("carriage returns with line feeds", "data: a\r\n\r\ndata: b\r\n\r\n", event("a"), event("b")),
        Case(
            "every line end in one stream", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", event("a"), event("b"),
            event("c")),
        Case("comments", ": hello\n:\n\ndata: a\n: between\ndata: b\n\n:\n\n", event("a\nb")),
        Case(
            "names", "event: add\ndata: 1\n\ndata: 2\n\nevent:a\nevent: b\ndata\n\n", event("1", "add"), event("2"),
            event("", "b")),
        Case("a name without data", "event: add\n\ndata: 1\n\n", event("1")),
        Case(
            "ids stay until they change", "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: 2\n\n", event("a", id: "1"),
            event("b", id: "1"), event("c"), lastID: "2"),
        Case(
            "an id with a null character is ignored", "id: 1\ndata: a\n\nid: 2\u{0}\ndata: b\n\n", event("a", id: "1"),
            event("b", id: "1"),
            lastID: "1"),
        Case(
            "an id with a control character is ignored",
            "id: 1\ndata: a\n\nid: 2\u{1}\ndata: b\n\nid: 3\u{7F}\n\nid: a\tb\n\n",
            event("a", id: "1"), event("b", id: "1"), lastID: "a\tb"),
        Case("an id takes effect with the event", "id: 1\ndata: a\n", lastID: ""),
        Case("delays", "retry: 1000\n\nretry: x\nretry: -1\nretry:\nretry: 1 \n\n", retry: .seconds(1)),
        Case("a huge delay", "retry: 99999999999999999999\n\n", retry: .seconds(86_400)),
        Case(
            "unknown fields, prefixes of known ones, capitals",
            "foo: 1\nDATA: 2\nda: 3\ndatas: 4\n data: 5\ndata: 6\n\n", event("6")),
        Case("several colons and spaces", "data::a: b\n\ndata :x\n\ndata:\tc\n\n", event(":a: b"), event("\tc")),
        Case("a byte order mark at the start only", "\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", event("a")),
        Case("half of a byte order mark", bytes: [0xEF, 0xBB] + Array("data: a\n\ndata: b\n\n".utf8), [event("b")]),
        Case("two byte order marks", "\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", event("b")),
        Case("an unfinished event is dropped", "data: a\n\ndata: b\n", event("a")),
        Case("an unfinished line is dropped", "data: a\n\ndata: b", event("a")),
        Case("empty lines", "\n\n\r\r\ndata: a\n\n\n\n", event("a")),
        Case(
            "characters of every length", "data: aé€😀\u{2028}\n\nevent: é\ndata: 😀\n\n", event("aé€😀\u{2028}"),
            event("😀", "é")),
        Case(
            "malformed UTF-8 stays in its field", bytes: Array("data: a".utf8) + [0xFF, 0xC3, 0x0A, 0x0A],
            [ServerSentEvent(data: [0x61, 0xFF, 0xC3])]),
    ]

    @Test("Events come out as the standard says, wherever the pieces begin and end", arguments: cases)
    func standard(_ one: Case) throws {
        for size in 1...max(one.stream.count, 1) {
            var parser = EventStreamParser(limits: .init(line: 1000, event: 1000))
            var events: [ServerSentEvent] = []
            for start in stride(from: 0, to: one.stream.count, by: size) {
                try parser.read(Array(one.stream[start..<min(start + size, one.stream.count)])) { events.append($0) }
            }
            #expect(events == one.events, "in pieces of \(size)")
            #expect(parser.lastEventID == one.lastID)
            #expect(parser.retry == one.retry)
        }
    }

    @Test("Malformed UTF-8 is replaced in text")
    func replacement() {
        #expect(ServerSentEvent(data: [0x61, 0xFF, 0x62]).text == "a\u{FFFD}b")
    }

    @Test(
        "Lines and events longer than the limit end the stream, also when they come in pieces",
        arguments: [1, 7, 10_000])
    func limits(_ size: Int) throws {
        func read(_ text: String) throws {
            var parser = EventStreamParser(limits: .init(line: 20, event: 30))
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try parser.read(Array(bytes[start..<min(start + size, bytes.count)])) { _ in }
            }
        }
        let long = String(repeating: "x", count: 14)
        try read("data: \(long)\n\n")
        try read("data: \(long)\ndata: \(long)\n\n")
        #expect(throws: EventStreamParser.Overflow.line(limit: 20)) { try read("data: \(long)y\n\n") }
        #expect(throws: EventStreamParser.Overflow.line(limit: 20)) { try read(": comment that never ends") }
        #expect(throws: EventStreamParser.Overflow.event(limit: 30)) {
            try read("data: \(long)\ndata: \(long)\ndata: xx\n\n")
        }
    }
}

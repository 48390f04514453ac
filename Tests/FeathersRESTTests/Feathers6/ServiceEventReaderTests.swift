import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCore
@testable import FeathersREST

@Suite("Events whose surroundings are remembered")
struct ServiceEventReaderTests {
    /// What an event must be, read without any memory.
    private static func expected(_ text: String) -> String {
        if text.isEmpty { return "greeting" }
        guard let json = try? JSONValue(parsingLossily: Array(text.utf8)), let name = json["event"]?.string, let path = json["path"]?.string
        else { return "unusable" }
        let service = FeathersApp.stripSlashes(path)
        return name == "connected" && service == "stream" ? "greeting" : "\(service) \(name) \(json["data"] ?? .null)"
    }

    /// Reads texts that arrive together.
    private static func read(_ texts: [String], by reader: inout ServiceEventReader) -> (events: [String], unusableCount: Int) {
        for var text in texts { text.withUTF8 { reader.read($0) } }
        let (events, unusableCount) = reader.takeEvents()
        return (events.map { "\($0.path) \($0.name) \($0.data)" }, unusableCount)
    }

    private static let names = ["created", "patched", "a\\\"b", "connected", "é", "x", String(repeating: "long", count: 200)]
    private static let paths = ["messages", "/rooms/1/", "stream", "m\\/n", "ü", "messages2"]
    private static let data = [
        "1", "null", #"{"text":"a"}"#, #"{"path":"other"}"#, #"1,"x":2"#, #""},"path":"x""#, "", "{", #"{"a":1},"path":"other""#,
        " [1, 2] ", #""\u0041""#, "1}", "1,2", "[1", "2],3", "[[4", "5]]", "]", ",", #""a","b""#, #"{"x":[1"#, "-0.5e3", "true",
        "{" + (0..<40).map { #""key \#($0)":1"# }.joined(separator: ",") + "}",
    ]

    @Test("10,000 random frames, however many arrive together, are read as they are without a memory", arguments: 0..<4)
    func differential(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var reader = ServiceEventReader(greetingPath: "/stream")
        var texts: [String] = []
        for _ in 0..<2_500 {
            let (name, path) = (Self.names.randomElement(using: &generator)!, Self.paths.randomElement(using: &generator)!)
            let data = Self.data.randomElement(using: &generator)!
            let text =
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: #"{"path":"\#(path)","event":"\#(name)","data":\#(data)}"#
                case 1: #"{"event":"\#(name)","data":\#(data),"path":"\#(path)"} "#
                case 2: #"{"event":"\#(name)", "data":\#(data),"path":"\#(path)"}"#
                case 3: #"{"event":"\#(name)","path":"\#(path)"}"#
                case 4: ["", "{}", "[]", "no JSON"].randomElement(using: &generator)!
                default: #"{"event":"\#(name)","data":\#(data),"path":"\#(path)"}"#
                }
            texts.append(text)
            guard Int.random(in: 0..<4, using: &generator) == 0 else { continue }
            let (read, expected) = (Self.read(texts, by: &reader), texts.map(Self.expected))
            #expect(read.events == expected.filter { $0 != "greeting" && $0 != "unusable" }, "of \(texts)")
            #expect(read.unusableCount == expected.count { $0 == "unusable" }, "of \(texts)")
            texts = []
        }
    }

    @Test(
        "Records that are JSON only together are read alone",
        arguments: [["[1", "2]"], ["[1", "2],3"], ["1,2", "3"], ["1", "2,3", "{"]])
    func joined(records: [String]) {
        var reader = ServiceEventReader(greetingPath: "stream")
        func text(_ record: String) -> String { #"{"event":"created","data":\#(record),"path":"messages"}"# }
        #expect(Self.read([text("0")], by: &reader).events == ["messages created 0"])
        let valid = records.filter { (try? JSONValue(parsing: Array($0.utf8))) != nil }
        let read = Self.read(records.map(text), by: &reader)
        #expect(read.events == valid.map { "messages created \($0)" } && read.unusableCount == records.count - valid.count)
    }

    @Test("Events that arrived together are decoded, and have data, one by one")
    func decoded() throws {
        struct Message: Decodable, Equatable { let id: Int, text: String }
        var reader = ServiceEventReader(greetingPath: "stream")
        for number in 0..<3 as Range<Int> {
            let texts = (0..<number + 2).map {
                #"{"event":"created","data":{"id":\#($0),"text":"n \"\#($0)\""},"path":"messages"}"#
            }
            for var text in texts { text.withUTF8 { reader.read($0) } }
            let events = reader.takeEvents().events
            for (index, event) in events.enumerated() {
                #expect(try event.decode(Message.self, CodingOptions()) == Message(id: index, text: "n \"\(index)\""))
                #expect(event.data == ["id": .integer(Int64(index)), "text": .string("n \"\(index)\"")])
                #expect(event.weight == texts[index].utf8.count)
            }
            #expect(events.count == texts.count)
        }
    }

    @Test("More kinds of events than are remembered are read too")
    func manyKinds() {
        var reader = ServiceEventReader(greetingPath: "stream")
        for _ in 0..<3 {
            for index in 0..<100 {
                let text = #"{"event":"created","data":\#(index),"path":"service\#(index)"}"#
                #expect(Self.read([text], by: &reader).events == ["service\(index) created \(index)"])
            }
        }
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

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

    private static func read(_ text: String, by reader: inout ServiceEventReader) -> String {
        var text = text
        return text.withUTF8 { text in
            switch reader.read(text) {
            case .event(let event): "\(event.path) \(event.name) \(event.data)"
            case .greeting: "greeting"
            case .unusable: "unusable"
            }
        }
    }

    private static let names = ["created", "patched", "a\\\"b", "connected", "é", "x", String(repeating: "long", count: 200)]
    private static let paths = ["messages", "/rooms/1/", "stream", "m\\/n", "ü", "messages2"]
    private static let data = [
        "1", "null", #"{"text":"a"}"#, #"{"path":"other"}"#, #"1,"x":2"#, #""},"path":"x""#, "", "{", #"{"a":1},"path":"other""#,
        " [1, 2] ", #""\u0041""#, "1}",
    ]

    @Test("10,000 random frames are read as they are without a memory, and also while readers come and go", arguments: 0..<4)
    func differential(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var reader = ServiceEventReader(greetingPath: "/stream")
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
            if Int.random(in: 0..<20, using: &generator) == 0 {
                reader.setDecoded(Bool.random(using: &generator), at: FeathersApp.stripSlashes(path))
            }
            let read = Self.read(text, by: &reader)
            #expect(read == Self.expected(text), "of \(text)")
        }
    }

    @Test("More kinds of events than are remembered are read too")
    func manyKinds() {
        var reader = ServiceEventReader(greetingPath: "stream")
        for _ in 0..<3 {
            for index in 0..<100 {
                let text = #"{"event":"created","data":\#(index),"path":"service\#(index)"}"#
                #expect(Self.read(text, by: &reader) == "service\(index) created \(index)")
            }
        }
    }
}

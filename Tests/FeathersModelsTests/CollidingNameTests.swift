import FeathersJSON
import FeathersModels
import Foundation
import Testing

@Suite("Names that clash", .timeLimit(.minutes(5)))
struct CollidingNameTests {
    private func text(_ names: [String], _ schema: JSONValue = ["type": "string"]) -> String {
        let properties = JSONObject(names.map { ($0, schema) })
        let source = SchemaSource(
            name: "notes.json", json: ["type": "object", "properties": .object(properties)])
        let output = ModelGenerator(origin: "notes.json").generate(from: [source])
        return output.files.values.joined(separator: "\n")
    }

    private func properties(in text: String) -> [String] {
        let model = text.firstRange(of: "struct Note:").map { text[$0.upperBound...] } ?? ""
        return model.split(separator: "\n").prefix { !$0.contains("enum CodingKeys") }.compactMap { line in
            line.firstMatch(of: /^ {4}(?:@\w+ )?var (\S+):/).map { String($0.1) }
        }
    }

    @Test(
        "with types of the generated code are changed",
        arguments: ["CodingKeys", "QueryKeys", "CreateData", "PatchData", "String", "ID", "JSONValue"])
    func types(name: String) {
        let lower =
            name == "ID" ? "id" : name == "JSONValue" ? "jsonValue" : name.prefix(1).lowercased() + name.dropFirst()
        let text = text([lower, name])
        let properties = properties(in: text)
        #expect(properties.count == 2 && Set(properties).count == 2, "\(text)")
        #expect(!properties.contains(name))
        #expect(text.contains("= \"\(name)\""))
    }

    @Test("with the type of another property are changed")
    func nested() {
        let text = text(["status", "Status"], ["type": "string", "enum": ["a", "b"]])
        #expect(text.contains("var status: "))
        #expect(!text.contains("var Status:") || !text.contains("enum Status:"), "\(text)")
    }

    @Test("in another Unicode form stay two properties with their own keys")
    func normalization() {
        let text = text(["caf\u{e9}", "cafe\u{301}", "\u{c5}", "\u{212b}", "A\u{30a}"])
        let properties = properties(in: text)
        #expect(properties.count == 5 && Set(properties).count == 5, "\(text)")
        let bytes = Array(text.utf8)
        for key in ["caf\u{e9}", "cafe\u{301}", "\u{c5}", "\u{212b}", "A\u{30a}"] {
            let literal = Array(key.utf8)
            #expect(bytes.indices.contains { bytes[$0...].starts(with: literal) }, "\(Array(key.unicodeScalars))")
        }
    }

    @Test("by the thousand take time in proportion to their text")
    func many() throws {
        let seconds = [1_000, 3_000].map { count in
            let names = (0..<count).map { "a" + String(repeating: "_", count: $0) }
            let clock = ContinuousClock()
            var found = 0
            let time = clock.measure { found = properties(in: text(names)).count }
            #expect(found == count)
            return time / .seconds(1)
        }
        print("1,000 names in \(seconds[0]) s, 3,000 in \(seconds[1]) s")
        // The text is nine times as long.
        #expect(seconds[1] < 30 * seconds[0])
    }
}

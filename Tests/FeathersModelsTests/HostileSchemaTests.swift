import FeathersJSON
import FeathersModels
import Foundation
import TestBackend
import Testing

@Suite("Documents that no one writes by hand", .timeLimit(.minutes(10)))
struct HostileSchemaTests {
    /// A way in which each schema of a chain leads to the next one.
    enum Link: String, CaseIterable {
        case reference, allOf, onlyAllOf, required, property, list, dictionary, alternative

        func schema(_ number: Int) -> JSONValue {
            let next = Corpus.reference("C\(number + 1)")
            return switch self {
            case .reference: next
            case .allOf: ["allOf": [next, Corpus.object(["p\(number)": ["type": "string"]])]]
            case .onlyAllOf: ["allOf": [next]]
            case .required: ["allOf": [next, ["required": ["end"]]]]
            case .property: Corpus.object(["next": next])
            case .list: ["type": "array", "items": next]
            case .dictionary: ["type": "object", "additionalProperties": next]
            case .alternative: ["anyOf": [next, ["type": "string"]]]
            }
        }

        /// What the file says.
        var text: String? {
            switch self {
            case .reference: "var it: C5000?\n"
            case .allOf: "    var p4999: String?\n"
            case .property: "    var next: C5000?\n"
            case .list, .dictionary: "`JSONValue`, since the lists around it are nested too deeply."
            case .onlyAllOf, .required, .alternative: nil
            }
        }
    }

    /// Generates models on a thread with the stack that Dispatch's threads have on a Mac.
    private func output(_ schemas: JSONObject) async -> ModelGenerator.Output {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                let thing = Corpus.object(["it": Corpus.reference("C0")])
                continuation.resume(returning: Corpus.files(thing, others: .object(schemas)))
            }
            thread.stackSize = 512 * 1024
            thread.start()
        }
    }

    @Test("A chain of 5,000 schemas becomes models", arguments: Link.allCases)
    func chains(_ link: Link) async throws {
        var schemas = JSONObject()
        for number in 0..<5_000 { schemas["C\(number)"] = link.schema(number) }
        schemas["C5000"] = Corpus.object(["end": ["type": "string"]])
        let output = await output(schemas)
        let file = try #require(output.files["Thing.swift"])
        if let text = link.text {
            #expect(file.contains(text), "\(file.prefix(2_000))")
            #expect(output.warnings.isEmpty)
        }
    }

    @Test(
        "A circle of 5,000 schemas does, with a warning where nothing else than references is in it",
        arguments: Link.allCases)
    func circles(_ link: Link) async throws {
        var schemas = JSONObject()
        for number in 0..<5_000 { schemas["C\(number)"] = link.schema(number) }
        schemas["C5000"] = Corpus.reference("C0")
        let output = await output(schemas)
        #expect(output.files["Thing.swift"] != nil)
        guard link == .reference else { return }
        #expect(output.warnings.map(\.message) == ["the schema refers to itself without end"])
    }

    @Test("A warning is one line that controls no terminal")
    func warnings() {
        let wild = "\u{1B}[2J\r\nwarning: \u{9B}\u{202E}\u{7}\u{2028}x"
        let output = Corpus.files([
            "type": "object",
            "properties": [
                "a": ["$ref": .string("#/nowhere/\(wild)")], "b": ["type": .string(wild)], .init(wild): ["type": "x"],
            ],
        ])
        #expect(output.warnings.count == 3)
        let lines = output.files.values.flatMap { $0.split(separator: "\n").map(String.init) }
        for line in output.warnings.map(\.description) + lines {
            let wild = line.unicodeScalars.filter {
                [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
            }
            #expect(wild.isEmpty, "\(line.debugDescription)")
        }
        #expect(output.warnings.contains { $0.description.contains("\\u{1b}[2J\\u{d}\\u{a}warning: ") })
    }

    @Test("Names that no Swift name begins with, or that mean something else, become others, which Swift compiles")
    func names() throws {
        let keys = ["\u{1DE7}x", "\u{1DC0}", "any", "Any", "a-n-y", "1st", "Self", "self", "\u{345}y", "é", "_", "__"]
        let output = Corpus.files([
            "type": "object",
            "properties": .object(JSONObject(keys.map { ($0, ["type": "string"]) })),
            "required": .array(keys.map { .string($0) }),
        ])
        let nested = Corpus.files(
            Corpus.object([
                "\u{1DE7}type": Corpus.object(["a": ["type": "string"]]),
                "kind": ["type": "string", "enum": .array(keys.map { .string($0) })],
            ]))
        for output in [output, nested] {
            let file = try #require(output.files["Thing.swift"])
            #expect(!file.contains("var Any:") && !file.contains("case Any"), "\(file)")
            #expect(!file.contains(" \u{1DE7}") && !file.contains(" \u{1DC0}"), "\(file)")
            guard ModelProgram.isPossible else { continue }
            let complaints = try ModelProgram.complaints(["Thing.swift": file], types: ["Thing"], [])
            #expect(complaints.lines.isEmpty, "\(complaints.lines)\n\(file)")
        }
    }

    /// What has names that clash.
    enum Named: CaseIterable {
        case properties, values, types, schemas

        /// A schema with so many of them, and those that it refers to.
        func schemas(_ count: Int) -> (JSONValue, others: JSONValue) {
            // All of them are called `aB` in Swift.
            let keys = (0..<count).map { number in
                "a" + String((0..<12).map { number >> $0 & 1 == 0 ? "-" : "." }) + "b"
            }
            let string: JSONValue = ["type": "string"]
            switch self {
            case .properties: return (Corpus.object(.object(JSONObject(keys.map { ($0, string) }))), [:])
            case .values: return (Corpus.object(["it": ["enum": .array(keys.map { .string($0) })]]), [:])
            case .types:
                let properties = keys.enumerated().map { ($1, Corpus.object(["p\($0)": string])) }
                return (Corpus.object(.object(JSONObject(properties))), [:])
            case .schemas:
                let others = keys.enumerated().map { ($1, Corpus.object(["p\($0)": string])) }
                let properties = keys.enumerated().map { ("p\($0)", Corpus.reference($1)) }
                return (Corpus.object(.object(JSONObject(properties))), .object(JSONObject(others)))
            }
        }
    }

    @Test("Names that clash take little more time than others, however many there are", arguments: Named.allCases)
    func clashes(_ named: Named) throws {
        func seconds(_ count: Int) throws -> Double {
            let (schema, others) = named.schemas(count)
            let runs = (0..<3).map { _ in
                let start = ThreadTime.used
                let output = Corpus.files(schema, others: others)
                let end = ThreadTime.used
                #expect(output.files["Thing.swift"]?.contains("\(count - 2)") == true)
                return end - start
            }
            return try #require(runs.min())
        }
        let (few, many) = (try seconds(300), try seconds(3_000))
        // Ten times as many; comparing each with all others would take a hundred times as long.
        #expect(many < 25 * few, "\(few) s, \(many) s")
    }
}

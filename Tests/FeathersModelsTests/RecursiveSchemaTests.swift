import FeathersJSON
import FeathersModels
import Testing

@Suite("Schemas that contain themselves")
struct RecursiveSchemaTests {
    private static func files(_ schemas: JSONValue) throws -> String {
        let output = Corpus.files(Corpus.object(["rule": Corpus.reference("Rule")]), others: schemas)
        #expect(output.warnings.isEmpty)
        return try #require(output.files["Thing.swift"])
    }

    @Test("a union is told apart by what its alternatives require, although they contain it")
    func required() throws {
        let alternatives: JSONValue = [
            Corpus.object(["not": Corpus.reference("Rule")], required: ["not"]),
            Corpus.object(["field": ["type": "string"]], required: ["field"]),
        ]
        let text = try Self.files(["Rule": ["anyOf": alternatives]])
        #expect(
            text.contains(
                "indirect enum Rule: Codable, Hashable, Sendable, ServiceValue {\n    case option1(Option1)\n"),
            "\(text)")
        #expect(text.contains("        var not: Rule\n"))
        #expect(text.contains("        var field: String\n"))
    }

    @Test("a union is told apart by a constant, although a property before it contains the union")
    func constants() throws {
        let text = try Self.files([
            "Rule": ["oneOf": [Corpus.reference("And"), Corpus.reference("Leaf")]],
            "And": Corpus.object(
                ["left": Corpus.reference("Rule"), "op": ["const": "and"]], required: ["left", "op"]),
            "Leaf": Corpus.object(["op": ["const": "leaf"], "field": ["type": "string"]], required: ["op", "field"]),
        ])
        #expect(text.contains("Sendable, ServiceValue {\n    case and(And)\n    case leaf(Leaf)\n"), "\(text)")
        #expect(text.contains("    var left: Rule\n    var op: Op = .and\n"))
    }

    @Test("a union whose alternatives differ only in where they contain it is JSON, with the reason")
    func same() throws {
        let text = try Self.files([
            "Rule": [
                "anyOf": [
                    Corpus.object(["not": Corpus.reference("Rule")], required: ["not"]),
                    Corpus.object(["not": Corpus.reference("Same")], required: ["not"]),
                ]
            ],
            "Same": ["oneOf": [Corpus.reference("Rule"), ["type": "null"]]],
        ])
        #expect(text.contains("    /// `JSONValue`, since its alternatives cannot be told apart"), "\(text)")
        #expect(text.contains("    var rule: JSONValue?\n"))
    }

    @Test("a name for a union is the union, also if an alternative contains it by that name")
    func alias() throws {
        let text = try Self.files([
            "Rule": [
                "oneOf": [
                    Corpus.object(
                        ["left": Corpus.reference("Alias"), "op": ["const": "and"]], required: ["left", "op"]),
                    Corpus.object(["op": ["const": "leaf"], "next": Corpus.reference("Alias")], required: ["op"]),
                ]
            ],
            "Alias": ["oneOf": [Corpus.reference("Rule"), ["type": "null"]]],
        ])
        #expect(text.contains("        @Nullable var left: Rule?\n"), "\(text)")
        #expect(text.contains("        var next: Rule?\n"), "\(text)")
    }

    @Test("alternatives that lead only to one another are JSON, and take no time that grows with their paths")
    func circle() throws {
        let names = (0..<12).map { "Circle\($0)" }
        let circle: JSONValue = ["anyOf": .array(names.map(Corpus.reference))]
        var schemas = JSONValue.object(JSONObject(names.map { ($0, circle) }))
        schemas["Rule"] = [
            "oneOf": [
                Corpus.object(
                    ["circle": Corpus.reference("Circle0"), "op": ["const": "and"]], required: ["circle", "op"]),
                Corpus.object(["op": ["const": "leaf"]], required: ["op"]),
            ]
        ]
        let output = Corpus.files(Corpus.object(["rule": Corpus.reference("Rule")]), others: schemas)
        #expect(output.warnings.contains { $0.message == "the schema refers to itself without end" })
        let text = try #require(output.files["Thing.swift"])
        #expect(
            text.contains(
                "    /// `JSONValue`, since the schema refers to itself without end.\n        var circle: JSONValue\n"),
            "\(text)"
        )
    }

    @Test("a property that `allOf` joins from two schemas that contain themselves is a type that contains itself")
    func joined() throws {
        let text = try Self.files([
            "Node": Corpus.object(["name": ["type": "string"], "parent": Corpus.reference("Node")]),
            "Rule": ["allOf": [Corpus.reference("Node"), Corpus.object(["parent": Corpus.reference("Rule")])]],
        ])
        #expect(text.contains("Sendable, ServiceValue {\n    var name: String?\n    var parent: Parent?\n"), "\(text)")
        #expect(text.contains("        @Indirect var parent: Rule.Parent? = nil\n"), "\(text)")
    }

    @Test("alternatives that each join the schema they are alternatives of are JSON, in little time")
    func base() throws {
        let kinds = ["A", "B", "C"]
        var schemas: JSONValue = [
            "Rule": ["properties": ["name": ["type": "string"]], "oneOf": .array(kinds.map(Corpus.reference))]
        ]
        for kind in kinds {
            schemas[kind] = ["allOf": [Corpus.reference("Rule"), Corpus.object([kind: ["type": "string"]])]]
        }
        let output = Corpus.files(Corpus.object(["rule": Corpus.reference("Rule")]), others: schemas)
        #expect(output.warnings.map(\.message) == ["the schema refers to itself without end"])
        let text = try #require(output.files["Thing.swift"])
        #expect(
            text.contains(
                "    /// `JSONValue`, since the schema refers to itself without end.\n    var rule: JSONValue?\n"),
            "\(text)")
    }

    @Test("a list that `allOf` joins with itself in its elements is a list of JSON, with the reason")
    func list() throws {
        let rule = Corpus.reference("Rule")
        let text = try Self.files([
            "Rule": ["type": "array", "items": ["allOf": [["type": "array", "items": rule], rule]]]
        ])
        #expect(
            text.contains("    /// `JSONValue`, since the schema contains itself.\n    var rule: [[JSONValue]]?\n"),
            "\(text)")
    }
}

import FeathersJSON
import FeathersModels
import Testing

@Suite("What schemas become")
struct SchemaTests {
    /// What a type outside others conforms to, unless it is a model.
    private static let value = "Codable, Hashable, Sendable, ServiceValue"

    @Test(
        "a property of each kind has Swift's type for it",
        arguments: [
            (["type": "string"], "String"), (["type": "integer"], "Int"),
            (["type": "integer", "format": "int64"], "Int64"),
            (["type": "number"], "Double"), (["type": "number", "format": "float"], "Float"),
            (["type": "boolean"], "Bool"),
            (["type": "string", "format": "date-time"], "Date"), (["type": "string", "format": "uuid"], "UUID"),
            (["type": "string", "format": "uri"], "URL"), (["type": "string", "format": "byte"], "Data"),
            (["type": "string", "format": "binary"], "Data"), (["type": "integer", "format": "int32"], "Int32"),
            (["type": "Date"], "Date"),
            (["type": "array", "items": ["type": "string"]], "[String]"),
            (["type": "array", "items": ["type": "string", "nullable": true]], "[String?]"),
            (["type": "object", "additionalProperties": ["type": "integer"]], "[String: Int]"),
            (["type": "object", "patternProperties": ["^(.*)$": ["type": "boolean"]]], "[String: Bool]"),
            (["type": "object"], "[String: JSONValue]"),
            (["allOf": [["type": "string"], ["minLength": 3]]], "String"),
            (["anyOf": [["type": "integer"], ["type": "number"]]], "Double"),
            (["anyOf": [["type": "string", "objectid": true], ["type": "object", "properties": [:]]]], "String"),
            (["enum": [1, 2]], "Int"), (["const": true], "Bool"), ([:], "JSONValue"),
            (["enum": ["a", 1]], "JSONValue"),
            (["allOf": [["type": "string"], ["required": ["a"]]]], "String"),
            (
                ["allOf": [["type": "object", "additionalProperties": ["type": "integer"]], ["required": ["a"]]]],
                "[String: Int]"
            ),
        ] as [(JSONValue, String)])
    func types(_ schema: JSONValue, _ type: String) throws {
        let output = Corpus.files(["type": "object", "required": ["it"], "properties": ["it": schema]])
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("    var it: \(type)\n"), "\(text)")
        #expect(output.warnings.isEmpty)
    }

    @Test(
        "each way to allow null makes a property that is sent as null if it is required",
        arguments: [
            ["type": "string", "nullable": true], ["type": ["string", "null"]],
            ["anyOf": [["type": "string"], ["type": "null"]]],
            ["oneOf": [["type": "string"], ["const": nil]]], ["allOf": [["type": "string"]], "nullable": true],
        ] as [JSONValue])
    func nullable(_ schema: JSONValue) throws {
        let output = Corpus.files([
            "type": "object", "required": ["it"], "properties": ["it": schema, "other": schema],
        ])
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("    @Nullable var it: String?\n    var other: String?\n"))
        #expect(text.contains("    var it: Presence<String> = .absent\n"))
    }

    @Test(
        "a property that `allOf` requires beside references is required",
        arguments: [
            ["allOf": [Corpus.reference("Base"), ["required": ["name"]]]],
            ["allOf": [Corpus.reference("Base"), Corpus.reference("Named")]],
            [
                "allOf": [
                    ["allOf": [["required": ["name"]], Corpus.reference("Base")]],
                    Corpus.object(["other": ["type": "string"]]),
                ]
            ],
            ["type": "object", "required": ["name"], "allOf": [Corpus.reference("Base")]],
            [
                "type": "object", "required": ["name"],
                "allOf": [Corpus.reference("Base"), Corpus.object(["other": ["type": "string"]])],
            ],
        ] as [JSONValue])
    func requiredBesideReferences(_ schema: JSONValue) throws {
        let base = Corpus.object(["name": ["type": "string"], "age": ["type": "integer"]])
        let output = Corpus.files(schema, others: ["Base": base, "Named": ["required": ["name"]]])
        #expect(output.warnings.isEmpty)
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("ServiceModel {\n    var name: String\n    var age: Int?\n"), "\(text)")
    }

    @Test("a property that `allOf` requires beside alternatives is required in each of them; it alone tells none apart")
    func requiredBesideAlternatives() throws {
        let text: JSONValue = ["type": "string"]
        for (required, isUnion) in [(["a"], true), ([], false)] as [(JSONValue, Bool)] {
            let alternatives: JSONValue = [
                "oneOf": [Corpus.object(["a": text], required: required), Corpus.object(["b": text])]
            ]
            let all: JSONValue = [
                Corpus.object(["id": text]), alternatives, ["required": ["id"]], ["required": isUnion ? ["id"] : ["a"]],
            ]
            let output = try #require(Corpus.files(Corpus.object(["it": ["allOf": all]])).files["Thing.swift"])
            #expect(output.contains("    var it: \(isUnion ? "It" : "JSONValue")?\n"), "\(output)")
            #expect(output.ranges(of: "var id: String\n").count == (isUnion ? 2 : 0), "\(output)")
        }
    }

    @Test("what allows null still does if `allOf` requires more of it")
    func requiredOfNullable() throws {
        let base: JSONValue = ["type": ["object", "null"], "properties": ["name": ["type": "string"]]]
        let it: JSONValue = ["allOf": [Corpus.reference("Base"), ["required": ["name"]]]]
        let output = Corpus.files(Corpus.object(["it": it], required: ["it"]), others: ["Base": base])
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("    @Nullable var it: It?\n") && text.contains("        var name: String\n"), "\(text)")
    }

    @Test("a reference keeps its type if `allOf` requires nothing new of it, or if it is not an object")
    func requiredAlready() throws {
        let base = Corpus.object(["name": ["type": "string"]], required: ["name"])
        for (name, schema) in [("Base", base), ("State", ["enum": ["on", "off"]])] as [(String, JSONValue)] {
            let output = Corpus.files(
                Corpus.object(["it": ["allOf": [Corpus.reference(name), ["required": ["name"]]]]]),
                others: [name: schema])
            #expect(try #require(output.files["Thing.swift"]).contains("    var it: \(name)?\n"))
        }
    }

    @Test(
        "types inside properties are shared only if their properties allow null and are set by the server alike",
        arguments: [("nullable", "@Nullable var zip: String?"), ("readOnly", "var zip: String?")])
    func sharedTypes(_ mark: String, _ written: String) throws {
        var zip: JSONValue = ["type": "string"]
        let address = Corpus.object(["zip": zip], required: ["zip"])
        zip[mark] = true
        var other = Corpus.object(["zip": zip], required: ["zip"])
        let output = Corpus.files(
            Corpus.object([
                "sender": Corpus.object(["address": address]), "receiver": Corpus.object(["address": other]),
            ]))
        let text = try #require(output.files["Thing.swift"])
        #expect(text.ranges(of: "struct Address: ").count == 2, "\(text)")
        #expect(text.contains("            var zip: String\n") && text.contains("            \(written)\n"), "\(text)")
        // What the property itself says is not part of its type.
        other = address
        other[mark] = true
        let shared = Corpus.files(
            Corpus.object([
                "sender": Corpus.object(["address": address]), "receiver": Corpus.object(["address": other]),
            ]))
        #expect(try #require(shared.files["Thing.swift"]).ranges(of: "struct Address: ").count == 1)
    }

    @Test("a schema that contains itself, directly or by way of another, is stored indirectly")
    func recursion() throws {
        let other: JSONValue = ["type": "object", "properties": ["back": ["$ref": "#/components/schemas/things"]]]
        let output = Corpus.files(
            ["type": "object", "properties": ["other": ["$ref": "#/components/schemas/other"]]],
            others: ["other": other])
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("@Indirect var other: Other? = nil"))
        #expect(text.contains("@Indirect var back: Thing? = nil"))
    }

    @Test("a reference that leads nowhere is a warning with its place, and JSON")
    func nowhere() throws {
        let output = Corpus.files([
            "type": "object", "properties": ["a/b": ["type": "array", "items": ["$ref": "#/components/schemas/Gone"]]],
        ])
        #expect(
            output.warnings.map(\.description) == [
                """
                test.json#/components/schemas/things/properties/a~1b/items/$ref: \
                '#/components/schemas/Gone' leads nowhere
                """
            ])
        #expect(try #require(output.files["Thing.swift"]).contains("    var aB: [JSONValue]?"))
    }

    @Test("text of a server cannot leave the comments and literals it is in")
    func injection() throws {
        let evil = "x\"\n}\u{2028}import Evil \\(exit(1)) */"
        let output = Corpus.files([
            "type": "object", "description": .string(evil),
            "properties": .object([evil: ["enum": [.string(evil)], "description": .string(evil)]]),
        ])
        let text = try #require(output.files["Thing.swift"])
        for line in text.split(whereSeparator: \.isNewline) where line.contains("Evil") {
            let start = line.drop { $0 == " " }
            #expect(
                start.hasPrefix("///") || line.contains("\"x\\\"\\u{a}}\\u{2028}import Evil \\\\(exit(1)) */\"")
                    || line.lowercased().contains("ximportevil"))
        }
    }

    @Test(
        "whole numbers with names are an enumeration; without as many names they are Int, with a comment",
        arguments: [
            (["x-enum-varnames": ["LOW", "VERY_HIGH"]], true), (["x-enumNames": ["Low", "Very high"]], true),
            (["x-enumNames": ["Low"]], false),
        ]
            as [(JSONValue, Bool)])
    func numbers(_ names: JSONValue, _ isEnumeration: Bool) throws {
        var schema: JSONValue = ["type": "integer", "enum": [0, -5]]
        for (key, value) in names.object ?? [:] { schema[key] = value }
        let text = try #require(Corpus.files(["type": "object", "properties": ["it": schema]]).files["Thing.swift"])
        guard isEnumeration else { return #expect(text.contains("    /// One of 0, -5.\n    var it: Int?\n")) }
        #expect(text.contains("    var it: It?\n"))
        #expect(
            text.contains(
                """
                case low
                        case veryHigh
                        /// A value that the schema does not list.
                        case unknown(Int)

                """
            ))
        #expect(
            text.contains(
                "case 0: .low\n                case -5: .veryHigh\n                default: .unknown(rawValue)\n"))
    }

    @Test("readOnly properties are the server's alone, writeOnly ones are never in a record")
    func access() throws {
        let output = Corpus.files([
            "type": "object", "required": ["id", "at", "secret"],
            "properties": [
                "id": ["type": "integer"], "at": ["type": "string", "readOnly": true],
                "secret": ["type": "string", "writeOnly": true],
            ],
        ])
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("ServiceModel {\n    var id: Int\n    var at: String\n\n"))
        #expect(text.contains("struct ThingData: \(Self.value) {\n    var id: Int?\n    var secret: String\n}\n"))
        #expect(text.contains("struct ThingPatch: \(Self.value) {\n    var secret: String?\n}\n"))
    }

    @Test("a type declares its coding keys if a name on the server is another; a record always does")
    func codingKeys() throws {
        let output = Corpus.files(
            ["type": "object", "properties": ["text": ["type": "string"]]],
            others: [
                "thingsData": [
                    "type": "object", "properties": ["text": ["type": "string"], "house_number": ["type": "integer"]],
                ]
            ])
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("    enum CodingKeys: String, CodingKey {\n        case text\n    }\n"), "\(text)")
        let keys = "        case text\n        case houseNumber = \"house_number\"\n    }\n"
        #expect(text.ranges(of: "    private enum CodingKeys: String, CodingKey {\n\(keys)").count == 2, "\(text)")
    }

    @Test(
        "a record declares the keys of its queries if they are others than its own",
        arguments: [
            (["text", "author.name"], "        case text\n        case authorName = \"author.name\"\n    }\n"),
            (["text"], "        case text\n    }\n"), (["houseNumber", "text"], nil), ([], nil),
        ] as [([String], String?)])
    func queryKeys(_ names: [String], _ keys: String?) throws {
        let sources = [
            SchemaSource(
                name: "things.json",
                json: [
                    "type": "object", "properties": ["text": ["type": "string"], "houseNumber": ["type": "integer"]],
                ]),
            SchemaSource(
                name: "things.query.json",
                json: ["type": "object", "properties": .object(JSONObject(names.map { ($0, ["type": "string"]) }))]),
        ]
        let output = ModelGenerator(origin: "schemas").generate(from: sources)
        let text = try #require(output.files["Thing.swift"])
        #expect(text.contains("    enum QueryKeys: String, CodingKey {\n") == (keys != nil))
        if let keys { #expect(text.contains("    enum QueryKeys: String, CodingKey {\n\(keys)"), "\(text)") }
    }

    @Test("JSON Schema files are services by their paths, with the schemas of their data beside them")
    func files() throws {
        let record: JSONValue = [
            "$id": "Message", "type": "object", "required": ["id"],
            "properties": ["id": ["type": "integer"], "user": ["$ref": "User"]],
        ]
        let sources = [
            SchemaSource(name: "messages.json", json: record),
            SchemaSource(
                name: "messages.data.json",
                json: ["$id": "MessageData", "type": "object", "properties": ["text": ["type": "string"]]]),
            SchemaSource(
                name: "api/users.json",
                json: [
                    "$id": "User", "type": "object", "properties": ["email": ["type": "string"]], "required": ["email"],
                ]),
        ]
        let output = ModelGenerator(origin: "schemas").generate(from: sources)
        #expect(output.services == ["api/users", "messages"])
        #expect(output.warnings == [])
        let message = try #require(output.files["Message.swift"])
        #expect(message.contains("    var user: User?"))
        #expect(message.contains("struct MessageData: \(Self.value) {\n    var text: String?\n}\n"))
        #expect(
            try #require(output.files["User.swift"]).contains("static var users: Self { Self(path: \"api/users\") }"))
    }
}

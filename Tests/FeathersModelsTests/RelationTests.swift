import FeathersJSON
import FeathersModels
import TestBackend
import Testing

@Suite("Relations between services")
struct RelationTests {
    private static let text: JSONValue = ["type": "string"]

    private static func id(of service: JSONValue) -> JSONValue { ["type": "string", "x-references": service] }
    private static func ids(of service: JSONValue) -> JSONValue { ["type": "array", "items": id(of: service)] }

    /// The files for services with these properties, by their paths.
    private static func output(_ services: [String: JSONValue], others: JSONValue = [:], isPublic: Bool = false)
        -> ModelGenerator.Output
    {
        let sources = services.map { SchemaSource(name: $0 + ".json", json: ["properties": $1]) }
        return ModelGenerator(origin: "schemas", isPublic: isPublic).generate(
            from: sources + (others.object ?? [:]).map { SchemaSource(name: $0.key + ".json", json: $0.value) })
    }

    /// The declarations of a model's relations, without their comments and indentation.
    private static func relations(_ model: String, _ output: ModelGenerator.Output) throws -> [String] {
        let parts = try #require(output.files[model + ".swift"]).split(separator: "\nextension \(model) {\n")
        guard parts.count == 2 else { return [] }
        let lines = parts[1].split(separator: "\n").map { $0.drop { $0 == " " } }
        return lines.filter { $0 != "}" && !$0.hasPrefix("///") }.map(String.init)
    }

    /// The names of a model's relations.
    private static func names(_ model: String, _ output: ModelGenerator.Output) throws -> [String] {
        try relations(model, output).compactMap { $0.split(separator: " = ").first?.split(separator: " ").last }
            .map(String.init)
    }

    @Test("both models have them: to one record, to those of a list of ids, and back")
    func both() throws {
        let output = Self.output(
            [
                "messages": [
                    "_id": Self.text, "authorId": Self.id(of: "users"), "reader_ids": Self.ids(of: "/users/"),
                ],
                "users": ["id": Self.text],
            ])
        #expect(output.warnings == [])
        #expect(
            try #require(output.files["Message.swift"]).hasSuffix(
                """

                extension Message {
                    /// The record of service 'users' whose id is in `authorID`.
                    static let author = relation(to: User.self, at: "users", by: .authorID)

                    /// The records of service 'users' whose ids are in `readerIDs`.
                    static let readers = relation(toMany: User.self, at: "users", byAll: .readerIDs)
                }

                """))
        #expect(
            try #require(output.files["User.swift"]).hasSuffix(
                """

                extension User {
                    /// The records of service 'messages' that refer to this one by `authorID`.
                    static let messages = relation(toMany: Message.self, at: "messages", by: .authorID, id: "_id")
                }

                """))
    }

    @Test(
        "the reference is found wherever a property's schema has it",
        arguments: [
            (id(of: "users"), "to"), (["type": "array", "items": text, "x-references": "users"], "toMany"),
            (["anyOf": [id(of: "users"), ["type": "null"]]], "to"), (["$ref": "reference.json"], "to"),
            (["$ref": "plain.json", "x-references": "users"], "to"), (["allOf": [["$ref": "reference.json"]]], "to"),
            (["type": "array", "items": ["$ref": "reference.json"]], "toMany"),
            (["anyOf": [ids(of: "users"), ["type": "null"]]], "toMany"),
            (["anyOf": [id(of: "users"), ["$ref": "users.json"]]], "to"),
        ] as [(JSONValue, String)])
    func places(_ schema: JSONValue, _ kind: String) throws {
        let output = Self.output(
            ["messages": ["it": schema], "users": ["id": Self.text]],
            others: ["plain": Self.text, "reference": Self.id(of: "users")])
        let relation = try #require(try Self.relations("Message", output).first)
        #expect(relation.contains(" = relation(\(kind): User.self, at: \"users\", "), "\(relation)")
    }

    @Test(
        "a relation has the name of its property without ID, unless that is taken or says nothing",
        arguments: [
            ("author_id", "author"), ("authorID", "author"), ("author-id", "author"), ("author", "author"),
            ("id", "user"), ("_id", "user"), ("selfId", "selfRecord"), ("initId", "initRecord"),
            ("defaultId", "`default`"), ("relationId", "relationRecord"), ("takenId", "taken"),
            ("2Id", "value2"), ("--", "user"), ("uuid", "uuid"), ("名Id", "名"), ("人Id", "人Record"),
        ])
    func toOne(_ key: String, _ name: String) throws {
        var properties: JSONValue = ["taken": Self.text, "text": Self.text]
        properties[key] = Self.id(of: "users")
        let output = Self.output(["messages": properties, "users": ["id": Self.text], "人": ["id": Self.text]])
        #expect(try Self.names("Message", output) == [name])
        guard ModelProgram.isPossible, ["人Id", "defaultId", "relationId"].contains(key) else { return }
        #expect(try ModelProgram.complaints(output.files, types: [], []).lines == [])
    }

    @Test(
        "a relation to the records of a list has the plural",
        arguments: [
            ("tagIds", "tags"), ("tag_ids", "tags"), ("tagId", "tags"), ("tagsIds", "tags"), ("tags", "tags"),
            ("categoryIds", "categories"), ("dayIds", "days"), ("boxIDs", "boxes"), ("personIds", "people"),
            ("childIds", "children"),
        ])
    func toSome(_ key: String, _ name: String) throws {
        let output = Self.output(["messages": .object([key: Self.ids(of: "tags")]), "tags": ["id": Self.text]])
        #expect(try Self.names("Message", output) == [name])
        #expect(try Self.names("Tag", output) == [])
    }

    @Test("several relations back from one service, or from the same, are told apart by their properties")
    func back() throws {
        let references: JSONValue = ["authorId": Self.id(of: "users"), "editorId": Self.id(of: "users")]
        let output = Self.output([
            "messages": references, "api/messages": ["authorId": Self.id(of: "users")],
            "notes": ["ownerId": Self.id(of: "users")], "teams/:teamId/members": ["userId": Self.id(of: "users")],
            "users": ["managerId": Self.id(of: "users"), "notes": ["type": "array", "items": Self.text]],
        ])
        #expect(output.warnings == [])
        #expect(
            try Self.names("User", output) == [
                "manager", "messages", "messages2ByAuthor", "messages2ByEditor", "notes", "usersByManager",
            ])
    }

    @Test("names that are still taken have numbers")
    func numbers() throws {
        let output = Self.output([
            "messages": [
                "author_id": Self.id(of: "users"), "authorId": Self.id(of: "users"), "author-id": Self.id(of: "users"),
            ],
            "users": ["messagesByAuthor": Self.text],
        ])
        #expect(try Self.names("Message", output) == ["author", "authorRecord", "authorRecord2"])
        #expect(try Self.names("User", output) == ["messagesByAuthor", "messagesByAuthor2", "messagesByAuthor3"])
    }

    @Test("a record that the server embeds is used if its property has the relation's name")
    func embedded() throws {
        let user: JSONValue = ["$ref": "users.json"]
        let properties: JSONValue = [
            "authorId": Self.id(of: "users"), "author": user, "lastEditor": user, "readerIds": Self.ids(of: "users"),
            "readers": ["type": "array", "items": user],
        ]
        let services = ["messages": properties, "users": ["id": Self.text]]
        let head = "static let author = relation(to: User.self, at: \"users\", by: .authorID"
        let list = "static let readers = relation(toMany: User.self, at: \"users\", byAll: .readerIDs)"
        #expect(
            try Self.relations("Message", Self.output(services)) == ["\(head), embedded: \"author\")", list])
        let query: JSONValue = ["properties": ["authorId": Self.text, "readerIds": Self.text]]
        #expect(
            try Self.relations("Message", Self.output(services, others: ["messages.query": query]))
                == ["\(head), embedded: \"author\")", list])
    }

    @Test(
        "a reference that is none is a warning with its place, its property, and the reason",
        arguments: [
            (id(of: "userz"), "", "there is no service 'userz'"), (id(of: 7), "", "there is no service '7'"),
            (id(of: "teams/:teamId/members"), "", "the path 'teams/:teamId/members' has parameters"),
            (ids(of: "userz"), "/items", "there is no service 'userz'"),
            (
                ["type": "object", "x-references": "users"], "", "it holds neither an id nor a list of ids"
            ),
            (["type": "array", "items": ids(of: "users")], "/items/items", "it holds neither an id nor a list of ids"),
        ] as [(JSONValue, String, String)])
    func unknown(_ schema: JSONValue, _ place: String, _ reason: String) throws {
        let output = Self.output([
            "messages": ["it": schema], "teams/:teamId/members": ["id": Self.text], "users": ["id": Self.text],
        ])
        #expect(
            output.warnings.map(\.description) == [
                "messages.json#/properties/it\(place)/x-references: property 'it' has no relation: \(reason)"
            ])
        #expect(output.files.values.allSatisfy { !$0.contains("relation(") })
    }

    @Test("a property that queries cannot name has no relation")
    func notQueryable() throws {
        let output = Self.output(
            ["messages": ["authorId": Self.id(of: "users"), "text": Self.text], "users": ["id": Self.text]],
            others: ["messages.query": ["properties": ["text": Self.text]]])
        #expect(
            output.warnings.map(\.message) == ["property 'authorId' has no relation: queries cannot name it"])
        #expect(output.files.values.allSatisfy { !$0.contains("relation(") })
    }

    @Test(
        "they compile: public or not, and isolated to the main actor by default, where other code uses them too",
        .enabled(if: ModelProgram.isPossible))
    func compile() throws {
        let services: [String: JSONValue] = [
            "messages": [
                "_id": Self.text, "authorId": Self.id(of: "users"), "author": ["$ref": "users.json"],
                "tagIds": Self.ids(of: "tags"), "relation": Self.text,
                "aPropertyWithALongNameId": Self.id(of: "a/path/with/a-rather-long-name"),
            ],
            "users": ["id": Self.text, "managerId": Self.id(of: "users")], "tags": ["id": Self.text],
            "a/path/with/a-rather-long-name": ["id": Self.text],
        ]
        let use = """
            import Feathers
            nonisolated func use(_ service: Service<Message>) {
                _ = service.live().including(Message.author.including(User.manager), Message.tags)
                _ = service.app.service("users", of: User.self).live().including(User.messages, User.usersByManager)
            }
            """
        for (isPublic, isolation) in [(false, nil), (true, nil), (false, "MainActor")] {
            var files = Self.output(services, isPublic: isPublic).files
            #expect(files.values.allSatisfy { $0.split(separator: "\n").allSatisfy { $0.count <= 120 } })
            #expect(files["Message.swift"]?.contains("    public static let tags = ") == isPublic)
            files["Use.swift"] = use
            let lines = try ModelProgram.complaints(files, types: [], [], isolation: isolation).lines
            #expect(lines == [], "\(lines.prefix(20).joined(separator: "\n"))")
        }
    }

    @Test("many relations whose names clash take little more time than few")
    func speed() throws {
        func seconds(_ count: Int) throws -> Double {
            // All of them are called `aB` in Swift.
            let keys = (0..<count).map { number in
                "a" + String((0..<12).map { number >> $0 & 1 == 0 ? "-" : "." }) + "b-id"
            }
            let properties = JSONValue.object(JSONObject(keys.map { ($0, Self.id(of: "users")) }))
            let runs = try (0..<3).map { _ in
                let start = ThreadTime.used
                let output = Self.output(["users": properties])
                let end = ThreadTime.used
                let relations = try Self.relations("User", output)
                #expect(relations.count == 2 * count)
                return end - start
            }
            return try #require(runs.min())
        }
        let (few, many) = (try seconds(300), try seconds(3_000))
        #expect(many < 25 * few, "\(few) s, \(many) s")
    }
}

import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Testing

@Suite("Atomic operations", .timeLimit(.minutes(10)))
struct AtomicTests {
    private let options = JSONAPIOptions(operationsPath: "operations")

    struct Draft: JSONAPIModel {
        static let type = "articles"
        var id: String?
        var lid: String?
        var title: String
        var author = ToOne<Person>()
    }

    @Test("a batch is one request, its results stand in the order of its operations")
    func batch() async throws {
        let server = try SeamServer(
            .init(
                #"""
                {"atomic:results": [
                    {"data": {"type": "articles", "id": "1", "attributes": {"title": "T"}}}, {}, {"data": null}, {}]}
                """#), options: options)
        var batch = JSONAPIBatch()
        try batch.add(
            Draft(lid: "a", title: "T", author: ToOne(identifier: JSONAPIIdentifier(type: "people", lid: "p"))))
        try batch.update(Person(id: "9", name: "Dan"))
        batch.relationship(
            "comments", of: JSONAPIIdentifier(type: "articles", lid: "a"), .add,
            .many([JSONAPIIdentifier(type: "comments", id: "5")]))
        batch.remove(JSONAPIIdentifier(type: "people", id: "8"))
        let results = try await server.app.send(batch)
        #expect(results.count == 4)
        #expect(try results[0].decode(Article.self).title == "T")
        #expect(results.dropFirst().allSatisfy { $0.record == nil })
        #expect(throws: JSONAPIError.self) { try results[1].decode(Article.self) }
        #expect(server.lines == ["POST /v1/operations"])
        let mediaType = #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#
        #expect(server.client.requests[0].headers["Content-Type"] == mediaType)
        #expect(server.client.requests[0].headers["Accept"] == mediaType)
        #expect(
            server.bodies[0] == [
                "atomic:operations": [
                    [
                        "op": "add",
                        "data": [
                            "type": "articles", "lid": "a", "attributes": ["title": "T"],
                            "relationships": ["author": ["data": ["type": "people", "lid": "p"]]],
                        ],
                    ],
                    ["op": "update", "data": ["type": "people", "id": "9", "attributes": ["name": "Dan"]]],
                    [
                        "op": "add", "ref": ["type": "articles", "lid": "a", "relationship": "comments"],
                        "data": [["type": "comments", "id": "5"]],
                    ], ["op": "remove", "ref": ["type": "people", "id": "8"]],
                ]
            ])
    }

    @Test("an answer without a document says that all was done")
    func noContent() async throws {
        let server = try SeamServer(.init("", status: 204), options: options)
        var batch = JSONAPIBatch()
        batch.remove(JSONAPIIdentifier(type: "people", id: "8"))
        #expect(try await server.app.send(batch).map { $0.record == nil } == [true])
    }

    @Test("a batch without operations is not sent")
    func empty() async throws {
        let server = try SeamServer(.init("", status: 500), options: options)
        #expect(try await server.app.send(JSONAPIBatch()).isEmpty)
        #expect(try await server.app.service("people").create(contentsOf: []) == [])
        #expect(try await server.app.service("people").removeAll(query: .where("id", .isIn([Int]()))) == [])
        #expect(server.lines.isEmpty)
    }

    @Test("a batch that breaks the specification is refused with its place, before it is sent")
    func strict() async throws {
        let server = try SeamServer(.init("", status: 500), options: options)
        let error = try await #require(throws: FeathersError.self) {
            try await server.app.service("people").create(contentsOf: [["name": "A"], ["a+b": 1]])
        }
        #expect(error.code == .badRequest && error.execution == .neverSent)
        #expect(error.message.contains("/atomic:operations/1/data/attributes/a+b"))
        #expect(server.lines.isEmpty)
    }

    @Test("errors say which operation they are about")
    func errors() async throws {
        let server = try SeamServer(
            .init(
                #"{"errors": [{"source": {"pointer": "/atomic:operations/1/data/attributes/name"}}, {}]}"#,
                status: 422),
            options: options
        )
        var batch = JSONAPIBatch()
        batch.remove(JSONAPIIdentifier(type: "people", id: "8"))
        let sent = batch
        let error = try await #require(throws: FeathersError.self) { try await server.app.send(sent) }
        #expect(error.jsonAPIErrors.map(\.operationIndex) == [1, nil])
    }

    @Test("results that are not one for each operation are an error")
    func wrongCount() async throws {
        let server = try SeamServer(.init(#"{"atomic:results": []}"#), options: options)
        var batch = JSONAPIBatch()
        batch.remove(JSONAPIIdentifier(type: "people", id: "8"))
        let error = try await #require(throws: FeathersError.self) { try await server.app.send(batch) }
        #expect(error.message.contains("each of 1 operations"))
    }

    @Test("calls for several records are batches where the server has them")
    func multi() async throws {
        let server = try SeamServer(
            .init(#"{"atomic:results": [{"data": {"type": "people", "id": "1", "attributes": {"name": "A"}}}, {}]}"#),
            options: options)
        let people = server.app.service("people")
        let created = try await people.create(contentsOf: [["name": "A"], ["id": "2", "name": "B"]])
        #expect(created.map { $0["id"] } == ["1", "2"])
        let patched = try await people.patchAll(query: .where("id", .isIn(["1", "2"])), with: ["name": "C"])
        #expect(patched[1] == ["name": "C", "type": "people", "id": "2"])
        #expect(try await people.removeAll(query: .where("id", .isIn([1, 2])))[1]["id"] == "2")
        #expect(server.bodies.map { $0?["atomic:operations"]?[1]?["op"] } == ["add", "update", "remove"])
        #expect(
            server.bodies[1]?["atomic:operations"]?[0]?["data"] == [
                "type": "people", "id": "1", "attributes": ["name": "C"],
            ])
        #expect(server.bodies[2]?["atomic:operations"]?[0]?["ref"] == ["type": "people", "id": "1"])
        #expect(server.lines == Array(repeating: "POST /v1/operations", count: 3))
        let error = try await #require(throws: FeathersError.self) {
            try await people.removeAll(query: .where("name", "A"))
        }
        #expect(error.code == .methodNotAllowed)
    }
}

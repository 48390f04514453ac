import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("Ids of records")
struct RecordIDTests {
    struct Note: Codable, Sendable, Equatable {
        var id: UUID
        var text: String
    }

    @Test("A UUID finds the record that was created with it, as an id and in a query")
    func uuids() async throws {
        let app = FeathersApp()
        try await app.use(MemoryService(), at: "notes")
        let notes = app.service("notes", of: Note.self)
        let note = Note(id: UUID(), text: "mine")
        try await notes.create(note)
        #expect(try await notes.get(note.id) == note)
        #expect(try await notes.find(.where("id", note.id)).data == [note])
        #expect(try await notes.json.find()[0]["id"] == JSONValue.string(note.id.uuidString.lowercased()))
    }

    @Test("A record tells its id, a string or a number")
    func told() throws {
        let record: JSONValue = ["id": 7, "_id": "a"]
        #expect(try record.id == 7)
        #expect(try record.id(named: "_id") == "a")
        #expect(try record.object?.id == 7)
    }

    @Test(
        "What has no id says which property was looked for",
        arguments: [
            (["text": "a"], "'id' is missing"), (["_id": "a"], #"use id(named: "_id")"#),
            (["id": nil], "'id' is neither a string nor a number"), ([["id": 1]], "must be an object"),
        ] as [(JSONValue, String)])
    func missing(record: JSONValue, message: String) throws {
        let error = try #require(throws: FeathersError.self) { try record.id }
        #expect(error.message.contains(message))
    }

    @Test("A service finds the id of its records by its own option")
    func ofService() async throws {
        let app = FeathersApp()
        let todos = try await app.use(MemoryService(id: "_id", startID: 1), at: "todos")
        let todo = try await todos.create(["text": "a"])
        #expect(try await todos.id(of: todo) == 1)
        await #expect {
            try await todos.id(of: ["id": 1])
        } throws: {
            ($0 as? FeathersError)?.message.contains("'_id' is missing") == true
        }
        let remote = FeathersApp(transport: StubTransport { _ in nil }).service("todos")
        #expect(try await remote.id(of: ["id": "x"]) == "x")
    }
}

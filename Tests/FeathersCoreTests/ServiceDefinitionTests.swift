import FeathersCore
import FeathersJSON
import Foundation
import Testing

/// As `feathers-models` writes a model.
private struct Note: Codable, Hashable, Sendable, Identifiable, ServiceModel {
    var id: Int
    var text: String
    @Nullable var folder: String?
    @Indirect var parent: Note? = nil

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case text, folder, parent
    }

    typealias CreateData = NoteData
    typealias PatchData = NotePatch
}

private struct NoteData: Codable, Hashable, Sendable {
    var text: String
    @Nullable var folder: String?
}

private struct NotePatch: Codable, Hashable, Sendable {
    var text: String?
    var folder: Presence<String> = .absent
}

extension ServiceDefinition<Note> {
    fileprivate static var notes: Self { Self(path: "notes", id: "_id") }
}

private struct NoteChange: Codable, Hashable, Sendable {
    var text: String?
    var folder: Presence<String> = .absent
    @Nullable var dueAt: Date?
    var tags: [String]?

    private enum CodingKeys: String, CodingKey {
        case text, folder
        case dueAt = "due_at"
        case tags
    }
}

@Suite("Service definitions")
struct ServiceDefinitionTests {
    @Test("name a service with its types, its id and the properties of its queries")
    func service() async throws {
        let app = FeathersApp()
        try await app.use(MemoryService(id: ServiceDefinition.notes.id, startID: 1, multi: .all), at: "notes")
        let notes = app.service(.notes)
        let note = try await notes.create(.init(text: "Hi", folder: nil))
        #expect(note == Note(id: 1, text: "Hi", folder: nil))
        #expect(try await notes.patch(1, .init(folder: "a")).folder == "a")
        #expect(try await notes.patch(1, .init(text: "Ho")).folder == "a")
        #expect(try await notes.patch(1, .init(folder: .null)).folder == nil)
        #expect(try await notes.find(.where(.text, .notEquals(""))).data.map(\.text) == ["Ho"])
        #expect(try await notes.update(1, .init(text: "Hm", folder: "b")).folder == "b")
        #expect(
            try await notes.create(contentsOf: [.init(text: "1", folder: nil), .init(text: "2", folder: nil)]).count
                == 2)
        #expect(try await notes.patchAll(query: .where(.text, "Hm"), .init(text: "")).map(\.id) == [1])
    }

    @Test("a patch leaves out what is absent, and sends null as null")
    func patch() throws {
        let expected: [(NotePatch, JSONValue)] = [
            (NotePatch(), JSONValue.object([:])), (NotePatch(folder: .null), JSONValue.object(["folder": nil])),
            (NotePatch(folder: nil), JSONValue.object(["folder": nil])),
            (NotePatch(folder: "a"), JSONValue.object(["folder": "a"])),
            (NotePatch(text: "b", folder: .value("a")), JSONValue.object(["text": "b", "folder": "a"])),
        ]
        for (patch, json) in expected {
            #expect(try JSONValue(encoding: patch) == json)
            #expect(try json.decode(NotePatch.self) == patch)
        }
    }

    @Test(
        "data has the server's names; nil, unless it is nullable, and absent are left out; null and dates as elsewhere"
    )
    func data() throws {
        #expect(try JSONValue(encoding: NoteChange()) == ["due_at": nil])
        let date = Date(timeIntervalSince1970: 1)
        let change = NoteChange(text: "a", folder: .null, dueAt: date, tags: ["b"])
        let json = try JSONValue(encoding: change)
        #expect(json == ["text": "a", "folder": nil, "due_at": try JSONValue(encoding: date), "tags": ["b"]])
        #expect(json.object?.map(\.key) == ["text", "folder", "due_at", "tags"])
        #expect(try JSONValue(encoding: NoteChange(folder: "c")) == ["folder": "c", "due_at": nil])
    }

    @Test("a nullable property is sent as null, an indirect one is left out; both may be missing")
    func wrappers() throws {
        let note = Note(id: 1, text: "", folder: nil, parent: Note(id: 2, text: "", folder: "a"))
        let json: JSONValue = ["_id": 1, "text": "", "folder": nil, "parent": ["_id": 2, "text": "", "folder": "a"]]
        #expect(try JSONValue(encoding: note) == json)
        #expect(try json.decode(Note.self) == note)
        #expect(try (["_id": 3, "text": ""] as JSONValue).decode(Note.self) == Note(id: 3, text: "", folder: nil))
    }
}

import FeathersCore
import FeathersTesting
import Testing

@Suite("Records and ids as arguments")
struct RecordArgumentsTests {
    struct Note: Codable, Sendable, Equatable, Identifiable {
        var id: Int?
        var text: String
        var color: String?
    }

    struct Key: RawRepresentable, Codable, Hashable, Sendable, ServiceIDConvertible { var rawValue: UInt16 }

    static func notes(_ options: MemoryService = MemoryService(startID: 1)) async throws -> Service<Note> {
        let app = FeathersApp()
        try await app.use(options, at: "notes")
        return app.service("notes", of: Note.self)
    }

    @Test("A record stands for its id")
    func records() async throws {
        let notes = try await Self.notes()
        var note = try await notes.create(Note(text: "one", color: "red"))
        note.text = "two"
        #expect(try await notes.update(note) == note)
        #expect(try await notes.patch(note, with: ["text": "three"]).text == "three")
        #expect(try await notes.patch(note, with: ["text": "four", "color": nil]) == Note(id: 1, text: "four"))
        #expect(try await notes.remove(note)?.text == "four")
        #expect(try await notes.find().isEmpty)
    }

    @Test("A record without an id is refused before anything is sent")
    func withoutID() async throws {
        let transport = StubTransport { _ in nil }
        let notes = FeathersApp(transport: transport).service("notes", of: Note.self)
        let note = Note(text: "new")
        for call: @Sendable () async throws -> Void in [
            { try await notes.update(note) }, { try await notes.patch(note, with: ["text": "x"]) },
            { try await notes.remove(note) },
            { _ = try await notes.get(note.id) }, { try await notes.json.remove(note.id) },
        ] {
            let error = try await #require(throws: FeathersError.self) { try await call() }
            #expect(error.code == .badRequest && error.execution == .neverSent)
            #expect(error.message.contains("The id is nil"))
        }
        #expect(transport.calls(of: "notes").isEmpty)
    }

    @Test("Any integer, a raw value and an optional are ids")
    func kinds() async throws {
        let notes = try await Self.notes()
        let note = try await notes.create(Note(text: "one"))
        #expect(try await notes.get(UInt8(1)) == note)
        #expect(try await notes.get(UInt64(1)) == note)
        #expect(try await notes.get(Key(rawValue: 1)) == note)
        #expect(try await notes.get(note.id) == note)
        let error = try await #require(throws: FeathersError.self) { try await notes.get(UInt64.max) }
        #expect(error.code == .notFound && error.message.contains("\(UInt64.max)"))
    }

    @Test("first, count and find(id:) say what is there")
    func readingOne() async throws {
        for pagination in [nil, Pagination(default: 1, max: 2)] {
            let notes = try await Self.notes(MemoryService(startID: 1, multi: .all, pagination: pagination))
            #expect(try await notes.first() == nil)
            #expect(try await notes.count() == 0)
            try await notes.create(contentsOf: ["a", "b", "c"].map { Note(text: $0) })
            #expect(try await notes.first(.sorted(by: "text", .descending))?.text == "c")
            #expect(try await notes.count() == 3)
            #expect(try await notes.count(.where("text", .notEquals("a")).limit(1).skip(1)) == 2)
            #expect(try await notes.count(.where("text", "z")) == 0)
            #expect(try await notes.find(id: 2)?.text == "b")
            #expect(try await notes.find(id: 9) == nil)
            #expect(try await notes.json.count(.where("text", "a")) == 1)
            #expect(try await notes.json.first(.where("text", "z")) == nil)
            #expect(try await notes.json.find(id: 9) == nil)
        }
    }

    @Test("A service whose pages have no total cannot be counted, and says so")
    func withoutTotal() async throws {
        let transport = StubTransport { _ in ["limit": 10, "data": [["id": 1]]] }
        let notes = FeathersApp(transport: transport).service("notes")
        let error = try await #require(throws: FeathersError.self) { try await notes.count() }
        #expect(error.message.contains("'notes' have no total"))
    }
}

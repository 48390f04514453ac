import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A draft", .timeLimit(.minutes(10)))
struct DraftTests {
    private let server = DraftServer()

    private func draft(_ record: JSONObject? = nil) async throws -> Draft<Note> {
        let server = record.map { DraftServer(.none, $0) } ?? server
        return try await server.app().service("notes", of: Note.self).draft(7)
    }

    private func note(_ text: String, title: String? = "first", due: Date? = nil) -> Note {
        Note(id: 7, text: text, title: title, due: due)
    }

    @Test("is a copy of the record, whose properties can be set")
    func copy() async throws {
        var draft = try await draft()
        #expect(draft.id == 7 && draft.value == note("one") && draft.base == note("one") && !draft.hasChanges)
        draft.text = "two"
        #expect(draft.text == "two" && draft.value == note("two") && draft.base == note("one"))
        #expect(draft.changedProperties == ["text"] && draft.hasChanges)
        draft.text = "one"
        #expect(!draft.hasChanges)
        draft.title = nil
        #expect(draft.changedProperties == ["title"])
        draft.discardChanges()
        #expect(draft.value == note("one") && !draft.hasChanges)
    }

    @Test("compares dates and missing properties in the form of its model")
    func forms() async throws {
        var draft = try await draft([
            "id": 7, "text": "one", "title": nil, "due": "2026-01-01T00:00:00+00:00", "extra": [1],
        ])
        #expect(!draft.hasChanges)
        draft.due = draft.base.due?.addingTimeInterval(1)
        #expect(draft.changedProperties == ["due"])
    }

    @Test("of JSON has all properties, and removing one is a change")
    func json() async throws {
        var draft = try await server.app().service("notes").draft("7")
        draft.value["owner"] = .none
        draft.value["text"] = "two"
        #expect(draft.changedProperties.sorted() == ["owner", "text"])
        try await draft.save()
        #expect(try server.sent() == [["owner": nil, "text": "two"]])
    }

    @Test("takes the properties that others have changed, and lists them")
    func moved() async throws {
        var draft = try await draft()
        draft.text = "mine"
        try draft.update(to: note("one", title: "theirs"))
        #expect(draft.value == note("mine", title: "theirs") && draft.base == note("one", title: "theirs"))
        #expect(draft.movedProperties == ["title"] && draft.conflicts.isEmpty)
        #expect(draft.changedProperties == ["text"])
        draft.discardChanges()
        #expect(draft.movedProperties.isEmpty && draft.value == note("one", title: "theirs"))
    }

    @Test("keeps what both have changed, until the conflict is resolved", arguments: DraftConflict.Side.allCases)
    func conflict(_ side: DraftConflict.Side) async throws {
        var draft = try await draft()
        draft.text = "mine"
        draft.title = nil
        try draft.update(to: note("theirs", title: "first"))
        #expect(draft.value == note("mine", title: nil) && draft.movedProperties.isEmpty)
        #expect(draft.conflicts == [DraftConflict(property: "text", base: "one", mine: "mine", theirs: "theirs")])
        try draft.resolve("title", with: .theirs)
        #expect(draft.title == nil)
        try draft.resolve("text", with: side)
        #expect(draft.conflicts.isEmpty && draft.text == (side == .mine ? "mine" : "theirs"))
        #expect(draft.changedProperties == (side == .mine ? ["text", "title"] : ["title"]))
        // What has been resolved is no conflict with the same record, and is one with another.
        try draft.update(to: note("theirs", title: "first"))
        #expect(draft.conflicts.isEmpty)
        try draft.update(to: note("later", title: "first"))
        #expect(draft.conflicts.map(\.base) == (side == .mine ? ["theirs"] : []))
    }

    @Test("has no conflict if both have changed a property to the same value, or one takes the change back")
    func agreement() async throws {
        var draft = try await draft()
        draft.text = "both"
        try draft.update(to: note("both"))
        #expect(draft.conflicts.isEmpty && !draft.hasChanges && draft.movedProperties.isEmpty)
        draft.text = "mine"
        try draft.update(to: note("theirs"))
        #expect(draft.conflicts.map(\.property) == ["text"])
        // Theirs again as the draft began.
        try draft.update(to: note("both"))
        #expect(draft.conflicts.isEmpty && draft.text == "mine" && draft.changedProperties == ["text"])
        try draft.update(to: note("theirs", title: nil))
        let removal = DraftConflict(property: "text", base: "both", mine: "mine", theirs: "theirs")
        #expect(draft.conflicts == [removal] && draft.movedProperties == ["title"])
        // Mine again as the draft began, which is no change.
        draft.text = "both"
        try draft.update(to: note("later", title: nil))
        #expect(draft.conflicts.isEmpty && draft.text == "later" && !draft.hasChanges)
    }

    @Test("is unchanged if a record cannot be merged or encoded")
    func unmergeable() async throws {
        struct Point: Codable, Sendable, Equatable {
            var x: Double
            var y: Double
        }
        let app = try DraftServer(.none, ["id": 7, "x": 1, "y": 2]).app()
        var draft = try await app.service("points", of: Point.self).draft(7)
        draft.x = .nan
        #expect(draft.hasChanges && draft.conflicts.isEmpty)
        await #expect { try await draft.save() } throws: { FeathersError.Code.badRequest ~= $0 }
        #expect { try draft.update(to: Point(x: 1, y: 3)) } throws: { FeathersError.Code.badRequest ~= $0 }
        #expect(draft.base == Point(x: 1, y: 2) && draft.x.isNaN)
    }

    @Test("needs a record with properties")
    func refused() async throws {
        let transport = StubTransport { _ in "text" }
        await #expect { _ = try await FeathersApp(transport: transport).service("notes").draft(7) } throws: {
            FeathersError.Code.unavailable ~= $0
        }
    }
}

import FeathersCore
import FeathersSync
import FeathersTesting
import Foundation
import Testing

/// What a preview and a test of a view make by themselves.
@Suite("Rows and snapshots for previews")
struct LiveSampleTests {
    struct Note: Codable, Sendable, Identifiable, Equatable {
        var id: Int
        var text: String
    }

    @Test("have the records, ids and states that they are made with")
    func samples() {
        let notes = [Note(id: 1, text: "a"), Note(id: 2, text: "b")]
        let snapshot = LiveSnapshot(notes)
        #expect(Array(snapshot.records) == notes && snapshot.map(\.id) == ["1", "2"] && snapshot.total == 2)
        #expect(!snapshot.hasPendingWrites && snapshot.source == .server && snapshot.changes.insertions == [0, 1])
        let pending = LiveSnapshot(rows: [LiveRow(record: notes[0], state: .pending), LiveRow(record: notes[1])])
        #expect(pending.hasPendingWrites && pending[0].text == "a" && pending[0].state == .pending)
        let text = LiveSnapshot(rows: [LiveRow(record: "a", id: "x")], source: .stored(since: .distantPast))
        #expect(Array(text.records) == ["a"] && text[0].id == "x" && text.source == .stored(since: .distantPast))
    }

    @Test("A queued write takes the record that it is about, as a call does")
    func writes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = FeathersApp(transport: StubTransport { _ in .null })
        try await app.use(localStore: .directory(folder))
        let (notes, note) = (app.service("notes", of: Note.self), Note(id: 7, text: "a"))
        let text = "b"
        let writes = [
            try await notes.outbox.update(note), try await notes.outbox.patch(note, with: ["text": text]),
            try await notes.outbox.patch(note, with: Note(id: 7, text: "c")), try await notes.outbox.remove(note),
        ]
        #expect(writes.allSatisfy { $0.recordID == 7 })
        #expect(writes.map(\.write.method) == [.update, .patch, .patch, .remove])
        await app.outbox?.close()
    }
}

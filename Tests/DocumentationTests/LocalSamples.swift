import Feathers
import Foundation

// The samples of the article about local data, each one as it stands there: `ReadmeTests` compares them.

private enum LocalSamples {
    nonisolated struct Note: Codable, Sendable {
        var id: Int?
        var text: String
    }

    static func setUp(_ app: FeathersApp, _ folder: URL) async throws {
        try await app.use(localStore: .directory(folder))
    }

    static func shows(
        _ notes: Service<Note>, display: ([LiveRow<Note>]) -> Void, showAge: (Date) -> Void
    ) async throws {
        func show(_ rows: LiveList<LiveRow<Note>>) { display(Array(rows)) }
        try await notes.outbox.create(Note(text: "In a tunnel"))
        for try await snapshot in notes.live(.sorted(by: "createdAt").limit(50)).snapshots {
            show(snapshot.rows)
            if case .stored(let date) = snapshot.source { showAge(date) }
        }
    }

    static func notLoadedYet(_ snapshot: LiveSnapshot<Note>, showNotLoadedYet: () -> Void) {
        if snapshot.source == .stored(since: .distantPast) { showNotLoadedYet() }
    }

    static func records(_ notes: Service<Note>, showAge: (Date) -> Void) async throws -> Draft<Note> {
        func show(_ note: Note, isPending: Bool) {}
        func show(_ notes: [Note], missing: [ServiceID]) {}
        let note = try await notes.stored.get(7)
        show(note.value, isPending: note.hasPendingWrites)
        if case .stored(let date) = note.source { showAge(date) }
        let some = try await notes.stored.find(ids: [7, 8], policy: .storedOnly)
        show(some.value, missing: some.missing)
        var draft = try await notes.stored.draft(7).value
        draft.text = "Edited in a tunnel"
        return draft
    }

    static func widget(_ app: FeathersApp, _ folder: URL) async throws {
        try await app.use(localStore: .readOnly(folder))
    }

    static func conflicts(_ options: inout OutboxOptions) {
        options.decide = { failure in
            guard failure.reason == .conflict, failure.current != nil else { return .discard }
            return failure.base == nil ? .replace(failure.write.data ?? .null) : .merge
        }
    }
}

private func scheduleBackgroundTask() {}

func leaveForeground(_ app: FeathersApp) async throws {
    try await withFeathersApp(app) { app in
        let left = try await app.outbox?.flush(within: .seconds(20)) ?? []
        if !left.isEmpty { scheduleBackgroundTask() }
    }
}

func enterForeground(_ app: FeathersApp) {
    app.outbox?.retryNow()
}

import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A draft of a stored record", .timeLimit(.minutes(10)))
struct StoredDraftTests {
    private func scene() async throws -> LocalScene {
        let scene = try LocalScene("one", "two")
        try await scene.visit(as: "alice")
        scene.isOnline.withLock { $0 = false }
        return scene
    }

    @Test("opens without a server, is queued, and shows its own change when it is opened again")
    func queued() async throws {
        let scene = try await scene()
        let app = try await scene.app(as: "alice")
        let notes = scene.notes(app)
        let opened = try await notes.stored.draft(1)
        #expect(opened.value.base.text == "one" && opened.missing.isEmpty)
        guard case .stored(let date) = opened.source else {
            Issue.record("The draft comes from \(opened.source)")
            return
        }
        #expect(abs(date.timeIntervalSinceNow) < 60)
        var draft = opened.value
        draft.text = "mine"
        await #expect { try await draft.save() } throws: { FeathersError.Code.unavailable ~= $0 }
        let write = try #require(try await draft.queue()?.write)
        #expect(write.data == ["text": "mine"] && write.base?["text"] == "one" && write.entityTag == nil)
        let again = try await notes.stored.draft(1)
        #expect(again.value.text == "mine" && again.hasPendingWrites && !again.value.hasChanges)
        scene.isOnline.withLock { $0 = true }
        try await withFeathersApp(app) { app in _ = try await app.outbox?.flush(within: .seconds(60)) }
        #expect(try await scene.server.get(1, Params())["text"] == "mine")
        // It is saved as any other draft, made on the server's record.
        var last = try await notes.stored.draft(1)
        #expect(last.source == .server && last.value.text == "mine")
        var copy = last.value
        copy.text = "last"
        try await copy.save()
        last = try await notes.stored.draft(1)
        #expect(last.value.text == "last")
        await app.outbox?.close()
    }

    @Test("notices what others have changed meanwhile when it is saved")
    func conflicts() async throws {
        let scene = try await scene()
        let app = try await scene.app(as: "alice")
        var draft = try await scene.notes(app).stored.draft(1, policy: .storedOnly).value
        draft.text = "mine"
        _ = try await scene.server.patch(1, with: ["text": "theirs"], Params())
        scene.isOnline.withLock { $0 = true }
        await #expect { try await draft.save() } throws: { FeathersError.Code.conflict ~= $0 }
        #expect(draft.conflicts.map(\.theirs) == ["theirs"])
        await app.outbox?.close()
    }

    @Test("belongs to the user whose record it is, and is not made of another's or of none")
    func users() async throws {
        let scene = try await scene()
        let app = try await scene.app(as: "alice")
        let notes = scene.notes(app)
        var draft = try await notes.stored.draft(1).value
        draft.text = "mine"
        app.setIdentity(Identity("bob"))
        await #expect { try await draft.queue() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        let error = await #expect(throws: FeathersError.self) { try await notes.stored.draft(1, policy: .storedOnly) }
        #expect(error?.code == .notStored)
        await app.outbox?.close()
    }

    @Test("of a record whose creation is queued joins that creation")
    func ofQueuedCreation() async throws {
        let scene = try await scene()
        let app = try await scene.app(as: "alice")
        let notes = scene.notes(app)
        let created = try await notes.outbox.create(["text": "new"])
        var draft = try await notes.stored.draft(created.id.uuidString.lowercased()).value
        draft.text = "newer"
        try await draft.queue()
        scene.isOnline.withLock { $0 = true }
        try await withFeathersApp(app) { app in _ = try await app.outbox?.flush(within: .seconds(60)) }
        #expect(try await scene.server.get(3, Params())["text"] == "newer")
        await app.outbox?.close()
    }

    @MainActor
    @Test("can be edited, queued and left in a view without a server")
    func model() async throws {
        let scene = try await scene()
        let app = try await scene.app(as: "alice")
        let model = DraftModel(try await scene.notes(app).stored.draft(1).value)
        let running = Task { await model.run() }
        model.value.text = "mine"
        #expect(await model.queue() && !model.hasChanges && !model.isRemoved)
        #expect(try await scene.notes(app).stored.get(1).value.text == "mine")
        running.cancel()
        await running.value
        #expect(model.error == nil && model.value.text == "mine")
        await app.outbox?.close()
    }

    @Test("keeps the tag with which the server has sent the record")
    func tag() async throws {
        let server = DraftServer(.strong)
        let app = try server.app()
        let folder = try OutboxFolder()
        var store = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
        // A busy machine is no silent server.
        store.responseDelay = .seconds(3600)
        try await app.use(localStore: store)
        var draft = try await app.service("notes", of: Note.self).stored.draft(7).value
        draft.text = "mine"
        try await draft.save()
        #expect(server.methods == ["GET", "PATCH"] && server.patches.first?.headers["If-Match"] == "\"1\"")
        await app.outbox?.close()
    }
}

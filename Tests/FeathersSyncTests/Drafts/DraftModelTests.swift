import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@MainActor
@Suite("The model of a draft", .timeLimit(.minutes(10)))
struct DraftModelTests {
    private let notes = MemoryService(records: [["id": 7, "text": "one", "title": "first"]])

    /// A service of the app itself, which emits its events. Other users' writes are calls of it.
    private func service() async throws -> Service<Note> {
        let app = FeathersApp()
        try await app.use(notes, at: "notes")
        return app.service("notes", of: Note.self)
    }

    @Test("shows what moves and what conflicts while the user types, and what is saved")
    func follows() async throws {
        let service = try await service()
        let model = DraftModel(try await service.draft(7))
        let running = Task { await model.run() }
        model.value.text = "mine"
        try await service.patch(7, with: ["title": "theirs"])
        try await observed { model.movedProperties == ["title"] }
        #expect(model.value.title == "theirs" && model.value.text == "mine" && model.conflicts.isEmpty)
        try await service.patch(7, with: ["text": "theirs"])
        try await observed { model.conflicts.map(\.property) == ["text"] }
        #expect(await !model.save() && FeathersError.Code.conflict ~= (model.error ?? CancellationError()))
        model.resolve("text", with: .mine)
        #expect(await model.save() && model.error == nil && !model.hasChanges && !model.isSaving)
        #expect(try await service.get(7) == Note(id: 7, text: "mine", title: "theirs"))
        // It still follows the record.
        try await service.patch(7, with: ["text": "later"])
        try await observed { model.value.text == "later" }
        running.cancel()
        await running.value
        #expect(model.error == nil)
    }

    @Test("says that the record was removed, and that it is back")
    func removed() async throws {
        let service = try await service()
        let model = DraftModel(try await service.draft(7))
        let running = Task { await model.run() }
        model.value.text = "mine"
        try await service.remove(7)
        try await observed { model.isRemoved }
        #expect(model.value.text == "mine")
        try await service.create(Note(id: 7, text: "one", title: "new"))
        try await observed { !model.isRemoved }
        #expect(model.value == Note(id: 7, text: "mine", title: "new"))
        running.cancel()
        await running.value
    }

    @Test(
        "keeps what the user has typed if the server refuses what was queued",
        arguments: [OutboxDecision?.none, .discard], [true, false])
    func refused(_ decision: OutboxDecision?, squashesPatches: Bool) async throws {
        let app = FeathersApp()
        let refuse: Hook = { _ in throw FeathersError(.badRequest, "The text is too long") }
        await (try app.use(notes, at: "notes")).use(hooks: Hooks(before: [.patch: [refuse]]))
        let folder = try OutboxFolder()
        let outbox = try await Outbox(file: folder.file) {
            $0.decide = { _ in decision }
            $0.squashesPatches = squashesPatches
        }
        try app.use(outbox: outbox)
        let model = DraftModel(try await app.service("notes", of: Note.self).draft(7))
        let running = Task { await model.run() }
        model.value.text = "mi"
        #expect(await model.queue() && !model.hasChanges)
        model.value.text = "mine"
        #expect(await model.queue() && !model.hasChanges)
        model.value.title = "typed later"
        let life = Task { try await app.run() }
        // Without a decision, the second of two writes waits behind the first.
        let hasAll = squashesPatches || decision != nil
        try await observed { model.error != nil && (!hasAll || model.draft.base.text == "one") }
        #expect("\(String(describing: model.error))".contains("The text is too long"))
        #expect(model.value == Note(id: 7, text: "mine", title: "typed later"))
        #expect(model.conflicts.isEmpty)
        if hasAll {
            #expect(model.changedProperties == ["text", "title"])
            #expect(model.draft.base == Note(id: 7, text: "one", title: "first"))
        }
        running.cancel()
        await running.value
        life.cancel()
        _ = await life.result
        await outbox.close()
    }

    @Test("keeps what is typed while it is being saved")
    func typing() async throws {
        let (asked, answered) = (Promise<Void>(), Promise<Void>())
        let transport = StubTransport { request in
            guard request.method == .patch else { return ["id": 7, "text": "one", "title": "first"] }
            asked.resolve(())
            try await answered.value()
            return ["id": 7, "text": request.data?["text"] ?? "", "title": "by the server"]
        }
        let service = FeathersApp(transport: transport).service("notes", of: Note.self)
        let model = DraftModel(try await service.draft(7))
        model.value.text = "mine"
        let saving = Task { await model.save() }
        try await asked.value()
        #expect(model.isSaving)
        #expect(await !model.save())
        model.value.text = "mine and more"
        answered.resolve(())
        #expect(await saving.value)
        #expect(model.draft.base == Note(id: 7, text: "mine", title: "by the server"))
        #expect(model.value == Note(id: 7, text: "mine and more", title: "by the server"))
        #expect(model.changedProperties == ["text"] && model.conflicts.isEmpty)
        model.discardChanges()
        #expect(model.value.text == "mine")
    }

    @Test("fetches again if others write while it is being saved")
    func overtaken() async throws {
        let (asked, answered) = (Promise<Void>(), Promise<Void>())
        let transport = StubRealTimeTransport(services: ["notes": notes], pushesEvents: false)
        transport.stub(
            "notes", .patch,
            with: ServiceStub { [notes] request in
                let result = try await notes.respond(to: request).result
                asked.resolve(())
                try await answered.value()
                return result
            })
        let app = FeathersApp(transport: transport)
        let service = app.service("notes", of: Note.self)
        try await withFeathersApp(app) { _ in
            let model = DraftModel(try await service.draft(7))
            let running = Task { await model.run() }
            // Events are the test's to send.
            transport.emit(.patched, of: "notes", try await notes.patch(7, with: ["title": "theirs"], Params()))
            try await observed { model.value.title == "theirs" }
            model.value.text = "mine"
            let saving = Task { await model.save() }
            try await asked.value()
            // After the patch was executed, and before its response arrives.
            let changed = try await notes.patch(7, with: ["text": "later"], Params())
            transport.emit(.patched, of: "notes", changed)
            answered.resolve(())
            #expect(await saving.value)
            try await observed { model.value.text == "later" }
            #expect(!model.hasChanges)
            running.cancel()
            await running.value
        }
    }

    @Test("queues what is typed, and shows it as the record")
    func queues() async throws {
        let folder = try OutboxFolder()
        let app = FeathersApp()
        try await app.use(notes, at: "notes")
        let outbox = try await Outbox(file: folder.file)
        try app.use(outbox: outbox)
        let service = app.service("notes", of: Note.self)
        let model = DraftModel(try await service.draft(7))
        let running = Task { await model.run() }
        model.value.text = "mine"
        #expect(await model.queue() && model.value.text == "mine" && !model.hasChanges)
        // Another change moves what was not queued, and does not take back what was.
        try await service.patch(7, with: ["title": "theirs"])
        try await observed { model.value.title == "theirs" }
        #expect(model.value.text == "mine" && model.conflicts.isEmpty && !model.hasChanges)
        running.cancel()
        await running.value
        await outbox.close()
    }

    @Test("ends with an error when another user signs in, and when the draft's params have a token")
    func users() async throws {
        let app = FeathersApp()
        try await app.use(notes, at: "notes")
        app.setIdentity(Identity("ada"))
        let service = app.service("notes", of: Note.self)
        let model = DraftModel(try await service.draft(7))
        let running = Task { await model.run() }
        try await service.patch(7, with: ["title": "theirs"])
        try await observed { model.value.title == "theirs" }
        app.setIdentity(Identity("bob"))
        await running.value
        #expect(FeathersError.Code.notAuthenticated ~= (model.error ?? CancellationError()) && !model.isRemoved)

        let other = DraftModel(try await service.draft(7, params: Params(token: "carol")))
        await other.run()
        #expect(FeathersError.Code.badRequest ~= (other.error ?? CancellationError()))
    }
}

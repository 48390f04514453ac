import Feathers
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@MainActor
@Suite("The draft of a record whose creation is queued", .timeLimit(.minutes(10)))
struct DraftOfNewRecordTests {
    private let folder: OutboxFolder
    private let notes = MemoryService(startID: 40)
    private let requests = Locked<[ServiceRequest]>([])

    init() throws { folder = try OutboxFolder() }

    private func app() async throws -> FeathersApp {
        let app = FeathersApp(
            transport: StubTransport { [notes, requests] request in
                requests.withLock { $0.append(request) }
                return try await notes.respond(to: request).result
            })
        try app.use(outbox: await Outbox(file: folder.file))
        return app
    }

    /// Queues a creation, and drafts its record.
    private func model(of service: Service<Note>) async throws -> (model: DraftModel<Note>, id: Int64) {
        let write = try await service.outbox.create(["text": "one"])
        let id = try #require(JSONValue.provisionalNumber(for: write.write.provisionalKey()).integer)
        return (DraftModel(try await service.draft(Note(id: Int(id), text: "one"))), id)
    }

    @Test("is saved once that was executed, and follows the record then")
    func executed() async throws {
        let app = try await app()
        let service = app.service("notes", of: Note.self)
        let (model, id) = try await model(of: service)
        let following = Task { await model.run() }
        model.value.text = "mine"
        #expect(await !model.save())
        let refusal = try #require(model.error as? FeathersError)
        #expect(refusal.code == .conflict && refusal.execution == .neverSent && refusal.message.contains("queue"))
        #expect(requests.withLock { $0.isEmpty })

        let running = Task { try await app.run() }
        try await observed { model.draft.base.id == 40 }
        #expect(model.value.id == 40 && model.value.text == "mine" && model.movedProperties.isEmpty)
        #expect(await model.save() && !model.isRemoved)
        #expect(try await notes.get(40, Params())["text"] == "mine")
        #expect(requests.withLock { $0.allSatisfy { !"\($0.id ?? 0) \($0.params.query.json)".contains("\(id)") } })
        try await service.patch(40, with: ["title": "theirs"])
        try await observed { model.value.title == "theirs" }
        following.cancel()
        running.cancel()
        await following.value
        _ = await running.result
        await app.outbox?.close()
    }

    @Test("ends if another user signs in")
    func anotherUser() async throws {
        let app = try await app()
        let service = app.service("notes", of: Note.self)
        let (model, _) = try await model(of: service)
        let following = Task { await model.run() }
        app.setIdentity(Identity("ada"))
        await following.value
        #expect(FeathersError.Code.notAuthenticated ~= (model.error ?? CancellationError()))
        await app.outbox?.close()
    }
}

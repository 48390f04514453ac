import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Queueing a draft", .timeLimit(.minutes(10)))
struct DraftQueueTests {
    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    private func app(on server: DraftServer) async throws -> (app: FeathersApp, outbox: Outbox) {
        let app = try server.app()
        let outbox = try await Outbox(file: folder.file)
        try app.use(outbox: outbox)
        return (app, outbox)
    }

    /// Sends what is queued, and closes the outbox.
    private func send(_ app: FeathersApp, _ outbox: Outbox) async throws -> [OutboxEntry] {
        let left = try await withFeathersApp(app) { _ in try await outbox.flush(within: .seconds(300)) }
        await outbox.close()
        return left
    }

    @Test("stores a patch of what has changed, made on the record that the draft has read")
    func queued() async throws {
        let server = DraftServer(.strong)
        let (app, outbox) = try await app(on: server)
        let notes = app.service("notes", of: Note.self)
        var draft = try await notes.draft(7)
        #expect(try await draft.queue() == nil)
        draft.text = "mine"
        // Read later by others in the app: not what the draft was made on.
        server.change(["owner": "bob"])
        _ = try await notes.get(7)
        let write = try #require(try await draft.queue()?.write)
        #expect(write.data == ["text": "mine"] && write.base?["text"] == "one" && write.entityTag == "\"1\"")
        #expect(draft.base.text == "mine" && !draft.hasChanges && draft.value == draft.base)
        let left = try await send(app, outbox)
        #expect(left.map(\.failure?.reason) == [.conflict] && left.first?.failure?.current?["owner"] == "bob")
    }

    @Test("can be repeated before the first patch is sent; saving then waits for that")
    func again() async throws {
        let server = DraftServer(.strong)
        let (app, outbox) = try await app(on: server)
        var draft = try await app.service("notes", of: Note.self).draft(7)
        draft.text = "mine"
        try await draft.queue()
        draft.title = nil
        await #expect { try await draft.save() } throws: { FeathersError.Code.conflict ~= $0 }
        try await draft.queue()
        #expect(outbox.state.entries.map(\.write.data) == [["text": "mine", "title": nil]])
        #expect(server.patches.isEmpty)
        #expect(try await send(app, outbox).isEmpty)
        draft.text = "later"
        try await draft.save()
        #expect(try server.sent() == [["text": "mine", "title": nil], ["text": "later"]])
        #expect(server.patches.map { $0.headers["If-Match"] } == ["\"1\"", "\"2\""])
    }

    @Test("uses the draft's route and query, and refuses header fields that the outbox would lose")
    func params() async throws {
        let server = DraftServer()
        let (app, outbox) = try await app(on: server)
        app.harmlessHeaders = ["X-Screen"]
        let notes = app.service("teams/:team/notes", of: Note.self)
        for (field, isKept) in [("X-Tenant", false), ("X-Screen", true)] {
            let params = Params(query: ["tenant": 1], headers: [field: "a"], route: ["team": "t"])
            var draft = try await notes.draft(7, params: params)
            draft.text = "mine"
            if isKept {
                let write = try #require(try await draft.queue()?.write)
                #expect(write.route == ["team": "t"] && write.query.json["tenant"] == 1)
            } else {
                await #expect { try await draft.queue() } throws: { ($0 as? FeathersError)?.code == .badRequest }
            }
        }
        #expect(outbox.state.entries.count == 1)
        await outbox.close()
    }

    @Test("needs an outbox, and keeps the changes without one")
    func missing() async throws {
        var draft = try await DraftServer().app().service("notes", of: Note.self).draft(7)
        draft.text = "mine"
        await #expect { try await draft.queue() } throws: { FeathersError.Code.notImplemented ~= $0 }
        #expect(draft.changedProperties == ["text"])
    }
}

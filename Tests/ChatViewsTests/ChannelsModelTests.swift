import Feathers
import FeathersTesting
import Foundation
import Testing

@testable import ChatViews

/// Tests of what the screens of `Demo` show. The views themselves need SwiftUI.
@MainActor
@Suite("The models of the demo's screens", .timeLimit(.minutes(10)))
final class ChannelsModelTests {
    private let stored = MemoryService(startID: 1, pagination: Pagination(default: 10, max: 100))
    /// The ids of this server are numbers, and an identity's name is text.
    private let users = MemoryService(records: [["id": 1, "name": "Ada"], ["id": 2, "name": "Grace"]])
    private let transport: StubRealTimeTransport
    private let tokens = InMemoryTokenStorage()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "channels-\(UUID().uuidString)")
    private let channels = MemoryService(
        pagination: Pagination(default: 10, max: 100), records: [["id": "lobby"], ["id": "team"]])

    init() {
        transport = StubRealTimeTransport(services: ["messages": stored, "users": users, "channels": channels])
        transport.stub(StubAccounts(["1": "secret", "2": "secret"]))
    }

    isolated deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a model, as the tasks of the views do.
    private func withModel(signingInAs user: String = "1", _ body: (ChatModel) async throws -> Void) async throws {
        let app = try await ChatModel.app(transport, in: folder, tokens: tokens)
        let model = ChatModel(app)
        let running = Task { await model.run() }
        try await signIn(model, as: user)
        let showing = Task { await model.showChannels() }
        try await body(model)
        for task in [running, showing] { task.cancel() }
        for task in [running, showing] { await task.value }
        await app.outbox?.close()
    }

    private func signIn(_ model: ChatModel, as user: String) async throws {
        try await observed { model.connection.isOnline }
        (model.email, model.password) = (user, "secret")
        await model.signIn()
        try #require(model.session.isSignedIn)
    }

    @discardableResult
    private func say(_ text: String, in room: String, by author: ServiceID = 2) async throws -> JSONValue {
        let message = ["room": .string(room), "authorID": author.json, "text": .string(text)] as JSONValue
        let created = try await stored.create(message, Params())
        transport.emit(.created, of: "messages", created)
        return created
    }

    /// What the list of channels shows of each.
    private func shown(_ model: ChatModel) -> [String] {
        model.channels.map { channel in
            let last = channel[ChatChannel.last].first
            let text = last.map { " \($0[ChatMessage.author]?.name ?? "…"): \($0.text)" } ?? ""
            return "\(channel.record.id) \(model.unreadCount(in: channel))\(text)"
        }
    }

    @Test("A channel has the number of messages of others that nobody has seen, and its last message with the author")
    func unread() async throws {
        try await say("one", in: "lobby")
        try await withModel { model in
            try await observed { shown(model) == ["lobby 1 Grace: one", "team 0"] && model.rows.count == 1 }
            try await say("two", in: "lobby")
            try await say("mine", in: "lobby", by: #require(model.userID))
            try await say("elsewhere", in: "team")
            try await observed { shown(model) == ["lobby 2 Ada: mine", "team 1 Grace: elsewhere"] }
            try await observed { model.rows.count == 3 }
            await model.markRead()
            try await observed { shown(model) == ["lobby 0 Ada: mine", "team 1 Grace: elsewhere"] }
            model.draft = "To be continued"
            model.open(model.channels[1])
            try await observed { model.rows.map(\.text) == ["elsewhere"] }
            #expect(model.draft.isEmpty)
            await model.markRead()
            try await observed { shown(model)[1] == "team 0 Grace: elsewhere" && model.outbox.entries.isEmpty }
            model.open(model.channels[0])
            #expect(model.draft == "To be continued")
        }
    }

    @Test("Without a connection, channels show what is written, and they leave with their user")
    func offline() async throws {
        try await say("hers", in: "lobby")
        try await withModel { model in
            try await observed { shown(model) == ["lobby 1 Grace: hers", "team 0"] && model.rows.count == 1 }
            transport.drop(.pingTimeout)
            await model.markRead()
            model.draft = "mine"
            await model.send()
            // No list on this device has the record of the user.
            try await observed { shown(model) == ["lobby 0 …: mine", "team 0"] }
            transport.restore()
            try await observed { shown(model) == ["lobby 0 Ada: mine", "team 0"] && model.outbox.entries.isEmpty }
            await model.session.logOut()
            try await observed { model.channels.isEmpty && model.rows.isEmpty }
        }
        try await withModel(signingInAs: "2") { model in
            try await observed { shown(model) == ["lobby 1 Ada: mine", "team 0"] }
        }
    }

    @Test("The next start shows the same channels without a connection, and what is written then is sent later")
    func offlineStart() async throws {
        try await say("hers", in: "lobby")
        try await withModel { model in
            try await observed { shown(model) == ["lobby 1 Grace: hers", "team 0"] && model.rows.count == 1 }
        }
        transport.drop(.pingTimeout)
        let app = try await ChatModel.app(transport, in: folder, tokens: tokens)
        let model = ChatModel(app)
        let running = Task { await model.run() }
        try await observed { model.userID != nil }
        let showing = Task { await model.showChannels() }
        try await observed { shown(model) == ["lobby 1 Grace: hers", "team 0"] && model.rows.count == 1 }
        model.draft = "mine"
        await model.send()
        try await observed { model.rows.count == 2 }
        transport.restore()
        try await observed { model.outbox.entries.isEmpty && shown(model).first == "lobby 1 Ada: mine" }
        for task in [running, showing] { task.cancel() }
        for task in [running, showing] { await task.value }
        await app.outbox?.close()
    }

    @Test("An author has a name where ids are numbers, and edits their own messages, without a connection too")
    func edits() async throws {
        try await withModel { lobby in
            try await observed { lobby.session.identity != nil && lobby.status == "Online" }
            try await say("hers", in: "lobby")
            lobby.draft = "mine"
            await lobby.send()
            try await observed { lobby.rows.last?.state == .confirmed && lobby.rows.count == 2 }
            try await observed { lobby.rows.map { $0[ChatMessage.author]?.name } == ["Grace", "Ada"] }
            #expect(lobby.rows.map(lobby.canEdit) == [false, true])
            let mine = try #require(lobby.rows.last)
            let draft = try #require(await lobby.edit(mine))
            transport.drop(.pingTimeout)
            draft.value.text = "mine, edited"
            #expect(await draft.queue())
            try await observed { lobby.outbox.entries.count == 1 && lobby.rows.last?.text == "mine, edited" }
            #expect(ChatModel.text(of: lobby.outbox.entries[0].write) == "Edited message: mine, edited")
            transport.restore()
            try await observed { lobby.outbox.entries.isEmpty && lobby.rows.last?.state == .confirmed }
        }
    }

    @Test("Previews have rows in several states, and a model without a server")
    func samples() async throws {
        #expect(ChatMessage.sampleRows.map(\.state) == [.confirmed, .pending])
        #expect(Set(ChatMessage.sampleRows.map(\.id)).count == 2)
        #expect(ChatModel.sample.rows.isEmpty && ChatModel.sample.userID == nil)
        let draft = try await ChatMessage.sampleDraft()
        #expect(draft.hasChanges && draft.conflicts.isEmpty && draft.value.text == "Is anyone there?")
    }
}

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
    private let folder = FileManager.default.temporaryDirectory.appending(path: "channels-\(UUID().uuidString)")

    init() {
        transport = StubRealTimeTransport(services: ["messages": stored, "users": users])
        transport.stub(StubAccounts(["1": "secret"]))
    }

    isolated deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a model and signs in, as the views do.
    private func withModel(_ body: (ChannelsModel, ChatModel) async throws -> Void) async throws {
        let app = try await ChatModel.app(transport, in: folder)
        let model = ChannelsModel(app, channels: ["lobby", "team"])
        let running = Task { await model.run() }
        let lobby = model.shared
        try await observed { lobby.connection.isOnline }
        (lobby.email, lobby.password) = ("1", "secret")
        await lobby.signIn()
        try #require(lobby.session.isSignedIn)
        try await body(model, lobby)
        running.cancel()
        await running.value
        await app.outbox?.close()
    }

    private func say(_ text: String, in room: String, by author: ServiceID = 2) async throws {
        let message = ["room": .string(room), "authorID": author.json, "text": .string(text)] as JSONValue
        transport.emit(.created, of: "messages", try await stored.create(message, Params()))
    }

    @Test("A channel counts the messages of others since it was last shown")
    func unread() async throws {
        try await withModel { model, lobby in
            let team = model.channels[1]
            try await observed { team.session.identity != nil && lobby.status == "Online" }
            try await say("one", in: "lobby")
            try await say("two", in: "lobby")
            try await say("mine", in: "lobby", by: #require(lobby.userID))
            try await say("elsewhere", in: "team")
            try await observed { lobby.rows.count == 3 && team.rows.count == 1 }
            #expect(model.unreadCount(in: lobby) == 2 && model.unreadCount(in: team) == 1)
            model.markRead(lobby)
            #expect(model.unreadCount(in: lobby) == 0 && model.unreadCount(in: team) == 1)
            try await say("three", in: "lobby")
            try await observed { lobby.rows.count == 4 }
            #expect(model.unreadCount(in: lobby) == 1)
        }
    }

    @Test("An author has a name where ids are numbers, and edits their own messages, without a connection too")
    func edits() async throws {
        try await withModel { model, lobby in
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

import Feathers
import FeathersTesting
import Foundation
import Testing

@testable import ChatViews

/// Tests of an app's model: without a server, and without sleeping.
@MainActor
@Suite("The model of a chat's view", .timeLimit(.minutes(10)))
final class ChatModelTests {
    /// The messages on the server: those created here are from other users.
    private let stored = MemoryService(startID: 1, pagination: Pagination(default: 10, max: 100))
    private let users = MemoryService(records: [
        ["id": "ada@example.com", "name": "Ada"], ["id": "grace", "name": "Grace"],
    ])
    private let transport: StubRealTimeTransport
    private let folder = FileManager.default.temporaryDirectory.appending(path: "chat-\(UUID().uuidString)")
    private let tokens = InMemoryTokenStorage()

    init() {
        transport = StubRealTimeTransport(services: ["messages": stored, "users": users])
        transport.stub(StubAccounts(["ada@example.com": "secret"]))
    }

    isolated deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a model, as the task of its view does.
    private func withModel(isSignedIn: Bool = true, _ body: (ChatModel) async throws -> Void) async throws {
        let app = try await ChatModel.app(transport, in: folder, tokens: tokens)
        let model = ChatModel(app, room: "lobby")
        let running = Task { await model.run() }
        if isSignedIn { try await signIn(model) }
        try await body(model)
        running.cancel()
        await running.value
        await app.outbox?.close()
    }

    private func signIn(_ model: ChatModel) async throws {
        try await observed { model.connection.isOnline }
        (model.email, model.password) = ("ada@example.com", "secret")
        await model.signIn()
        try #require(model.session.isSignedIn)
    }

    private func texts(_ model: ChatModel) -> [String] { model.rows.map(\.record.text) }

    /// Creates a message by another user.
    @discardableResult
    private func say(_ text: String, room: String = "lobby") async throws -> JSONValue {
        try await stored.create(["room": .string(room), "authorID": "grace", "text": .string(text)], Params())
    }

    @Test("It shows what was said, and what is said from now on, in this room")
    func shows() async throws {
        for text in ["one", "two"] { try await say(text) }
        try await withModel { model in
            try await observed { texts(model) == ["one", "two"] && model.status == "Online" }
            // Events are the test's to send.
            transport.emit(.created, of: "messages", try await say("elsewhere", room: "attic"))
            transport.emit(.created, of: "messages", try await say("three"))
            try await observed { texts(model) == ["one", "two", "three"] }
        }
    }

    @Test("It shows who says something, also while it is not sent, and what was said earlier")
    func history() async throws {
        for number in 1...60 { try await say("\(number)") }
        try await withModel { model in
            try await observed { texts(model) == (11...60).map { "\($0)" } && model.hasMore }
            try await observed { model.rows.allSatisfy { $0[ChatMessage.author]?.name == "Grace" } }
            await model.showEarlier()
            try await observed { texts(model) == (1...60).map { "\($0)" } && !model.hasMore }
            transport.drop(.pingTimeout)
            model.draft = "Hi"
            await model.send()
            try await observed { model.rows.last?.text == "Hi" && model.rows.last?.state == .pending }
            transport.restore()
            try await observed { model.rows.last?[ChatMessage.author]?.name == "Ada" }
        }
    }

    @Test("A wrong password shows; logging out takes the messages away")
    func signsIn() async throws {
        try await say("one")
        try await withModel(isSignedIn: false) { model in
            try await observed { model.connection.isOnline }
            (model.email, model.password) = ("ada@example.com", "wrong")
            await model.signIn()
            #expect(
                model.signInProblem == UserMessage.signedOut.text && model.session.identity == nil && model.rows.isEmpty
            )
            try await signIn(model)
            #expect(model.password == "" && model.signInProblem == nil)
            try await observed { texts(model) == ["one"] && model.session.identity?.name == "ada@example.com" }
            await model.session.logOut()
            try await observed { model.rows.isEmpty && model.session.identity == nil }
        }
    }

    @Test("It sends what is written, and shows it once")
    func sends() async throws {
        try await withModel { model in
            model.draft = "Hi"
            await model.send()
            await model.send()
            #expect(model.draft == "" && model.problem == nil)
            try await observed { texts(model) == ["Hi"] && model.rows.first?.state == .confirmed }
        }
        let created = transport.calls(of: "messages", .create)
        let message: JSONValue = ["room": "lobby", "authorID": "ada@example.com", "text": "Hi"]
        #expect(created.map(\.request.data) == [message])
    }

    @Test("Without a connection, it shows what is written, and sends it later, even if it was closed meanwhile")
    func offline() async throws {
        try await withModel { model in
            transport.drop(.pingTimeout)
            try await observed { model.status == "Offline" }
            model.draft = "Hi"
            await model.send()
            try await observed { texts(model) == ["Hi"] && model.status == "Offline – 1 not sent yet" }
            #expect(model.rows.first?.state == .pending)
        }
        transport.restore()
        try await withModel(isSignedIn: false) { model in
            try await observed { model.rows.first?.state == .confirmed && model.status == "Online" }
            #expect(texts(model) == ["Hi"] && model.session.isSignedIn)
        }
        #expect(transport.calls(of: "messages", .create).count == 1)
    }

    @Test("A message that the server refuses says why, and is sent again or discarded", arguments: [true, false])
    func refused(_ isRepeated: Bool) async throws {
        // Fails once; the stubs of a cycle take turns.
        let refusal = ServiceStub.error(FeathersError(.unprocessable, "Too long"))
        transport.stub("messages", .create, with: .cycle([refusal, .service(stored)]))
        try await withModel { model in
            model.draft = "Hi"
            await model.send()
            try await observed { model.outbox.failures.count == 1 && model.status == "Online – 1 not sent yet" }
            try await observed { if case .failed = model.rows.first?.state { true } else { false } }
            let entry = try #require(model.outbox.failures.first)
            #expect(entry.failure?.error.userMessage == UserMessage.invalid.text)
            if isRepeated { await model.outbox.retry(entry.id) } else { await model.outbox.discard(entry.id) }
            try await observed { model.status == "Online" && texts(model) == (isRepeated ? ["Hi"] : []) }
        }
    }

    @Test("When a lost connection is back, what was said meanwhile is there")
    func loses() async throws {
        try await withModel { model in
            try await say("before")
            transport.emit(.created, of: "messages", try await stored.get(1, Params()))
            try await observed { texts(model) == ["before"] }
            transport.drop(.pingTimeout)
            try await observed { model.status == "Offline" }
            // No event arrives while the connection is lost.
            try await say("meanwhile")
            transport.restore()
            try await observed { model.status == "Online" && texts(model) == ["before", "meanwhile"] }
        }
    }

    @Test("A server that refuses the list says so above it")
    func forbidden() async throws {
        transport.stub("messages", .find, with: .error(FeathersError(.forbidden, "Members only")))
        try await withModel { model in try await observed { model.status == UserMessage.refused.text } }
    }
}

import Feathers
import FeathersTesting
import Testing

@testable import ChatViews

/// Tests of an app's model: without a server, and without sleeping.
@MainActor
@Suite("The model of a chat's view", .timeLimit(.minutes(10)))
struct ChatModelTests {
    /// The messages on the server: those created here are from other users.
    private let stored = MemoryService(startID: 1, pagination: Pagination(default: 10, max: 100))

    private func model(_ transport: StubRealTimeTransport) -> ChatModel {
        ChatModel(FeathersApp(transport: transport), room: "lobby", author: "Ada")
    }

    /// Creates a message by another user.
    @discardableResult
    private func say(_ text: String, room: String = "lobby") async throws -> JSONValue {
        try await stored.create(["room": .string(room), "author": "Grace", "text": .string(text)], Params())
    }

    @Test("It shows what was said, and what is said from now on, in this room")
    func shows() async throws {
        for text in ["one", "two"] { try await say(text) }
        let transport = StubRealTimeTransport(services: ["messages": stored])
        let model = model(transport)
        #expect(model.title == "lobby – connecting…")
        async let _: Void = model.run()
        try await observed { model.messages.map(\.text) == ["one", "two"] && model.title == "lobby" }

        // Events are the test's to send.
        transport.emit(.created, of: "messages", try await say("elsewhere", room: "attic"))
        transport.emit(.created, of: "messages", try await say("three"))
        try await observed { model.messages.map(\.text) == ["one", "two", "three"] }
    }

    @Test("It sends what is written, and shows it once")
    func sends() async throws {
        let transport = StubRealTimeTransport(services: ["messages": stored])
        let model = model(transport)
        async let _: Void = model.run()
        try await observed { model.isOnline }
        #expect(!model.canSend)
        model.draft = "Hi"
        await model.send()
        try await observed { model.messages.map(\.text) == ["Hi"] }
        #expect(model.draft == "" && model.problem == nil)

        // What was sent, in the order it came.
        let created = transport.calls(of: "messages", .create)
        #expect(created.map(\.request.data) == [["room": "lobby", "author": "Ada", "text": "Hi"]])
        #expect(transport.calls(of: "messages", .find).first?.request.params.query.json["room"] == "lobby")
    }

    @Test(
        "A message that is not sent stays, and it says why",
        arguments: [
            (FeathersError(.unprocessable, "Too long"), "Too long"),
            (FeathersError(.notAuthenticated, "jwt expired"), "Please sign in"),
            (FeathersError(.unavailable, "Gone", execution: .neverSent), "The server cannot be reached"),
            (
                FeathersError(.timeout, "Late", execution: .mayHaveExecuted),
                "No response arrived. Check whether the message was sent"
            ),
        ])
    func refused(_ error: FeathersError, _ problem: String) async throws {
        let transport = StubRealTimeTransport(services: ["messages": stored])
        // Fails once; the stubs of a cycle take turns.
        transport.stub("messages", .create, with: .cycle([.error(error), .service(stored)]))
        let model = model(transport)
        async let _: Void = model.run()
        model.draft = "Hi"
        await model.send()
        #expect(model.draft == "Hi" && model.problem == problem)
        await model.send()
        #expect(model.draft == "" && model.problem == nil)
    }

    @Test("While a message is being sent, no other is sent")
    func once() async throws {
        let clock = ManualClock()
        let transport = StubRealTimeTransport(services: ["messages": stored])
        // A response that takes a second of test time, and no real time.
        transport.stub("messages", .create, with: .service(stored).delayed(by: .seconds(1), on: clock))
        let model = model(transport)
        async let _: Void = model.run()
        model.draft = "Hi"
        async let first: Void = model.send()
        try await clock.waitForSleepers(1)
        #expect(model.isSending && !model.canSend)
        await model.send()
        clock.advance(by: .seconds(1))
        await first
        #expect(transport.calls(of: "messages", .create).count == 1)
    }

    @Test("A lost connection shows; when it is back, what was said meanwhile is there")
    func loses() async throws {
        let transport = StubRealTimeTransport(services: ["messages": stored])
        let model = model(transport)
        async let _: Void = model.run()
        try await say("before")
        try await observed { model.isOnline }
        transport.emit(.created, of: "messages", try await stored.get(1, Params()))
        try await observed { model.messages.map(\.text) == ["before"] }

        transport.drop(.pingTimeout)
        try await observed { model.title == "lobby – connecting…" }
        // No event arrives while the connection is lost.
        try await say("meanwhile")
        transport.restore()
        try await observed { model.isOnline && model.messages.map(\.text) == ["before", "meanwhile"] }
    }

    @Test("A server that refuses the list says so above it")
    func forbidden() async throws {
        let transport = StubRealTimeTransport()
        transport.stub("messages", .find, with: .error(FeathersError(.forbidden, "Members only")))
        let model = model(transport)
        async let _: Void = model.run()
        try await observed { model.title == "lobby – Members only" }
    }
}

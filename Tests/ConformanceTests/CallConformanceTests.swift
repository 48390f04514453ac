import Feathers
import Foundation
import TestBackend
import Testing

/// What every transport must do alike: events, hooks, many calls at once, calls given up.
@Suite("Conformance: calls and events", .inTurn)
struct CallConformanceTests {
    private let room = JSONValue.string("conformance-\(UUID().uuidString)")

    @Test("Each change is heard once, in order, several records one by one", arguments: Subject.all)
    func events(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let events = messages.events()
        let created = try await messages.create(["text": "a", "room": room])
        let id = try #require(created["id"].flatMap { ServiceID($0) })
        if subject.can(.update) {
            try await messages.update(id, with: ["text": "b", "room": room])
        } else {
            await subject.expectRefusal(of: .update) {
                try await messages.update(id, with: ["text": "b", "room": room])
            }
        }
        try await messages.patch(id, with: ["text": "c"])
        try await messages.create(contentsOf: [["text": "d", "room": room], ["text": "e", "room": room]])
        try await messages.remove(id)
        // The last one of this test's own, so that every event of the changes above has come before it.
        try await messages.create(["text": "end", "room": room])

        var heard: [String] = []
        for await event in events
        where event.data["room"] == room || (event.data["id"] == id.json && !subject.can(.removedRecords)) {
            heard.append("\(event.name) \(event.data["text"]?.string ?? "-")")
            if event.data["text"] == "end" { break }
        }
        let updated = subject.can(.update) ? ["updated b"] : []
        let removed = subject.can(.removedRecords) ? "removed c" : "removed -"
        #expect(heard == ["created a"] + updated + ["patched c", "created d", "created e", removed, "created end"])
    }

    @Test("Hooks run around calls, and hear of errors", arguments: Subject.all)
    func hooks(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        await messages.use(
            hooks: Hooks(
                before: [.create: [{ $0.data?["text"] = "from a hook" }]],
                after: [.create: [{ $0.result?["seen"] = true }]],
                error: [
                    .get: [
                        { context in if FeathersError.Code.notFound ~= context.error! { context.result = "default" } }
                    ]
                ]))
        let created = try await messages.create(["text": "x", "room": room])
        #expect(created["text"] == "from a hook")
        #expect(created["seen"] == true)
        #expect(try await messages.get(999_999) == "default")
    }

    @Test("A hundred calls at once each get their own answer", arguments: Subject.all)
    func concurrency(_ subject: Subject) async throws {
        let echo = try await subject.app().service("echo")
        let answers = try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
            for number in 0..<100 {
                group.addTask { (number, try await echo.create(["number": .integer(Int64(number))])) }
            }
            return try await group.reduce(into: [Int: JSONValue]()) { $0[$1.0] = $1.1 }
        }
        #expect(answers.count == 100)
        #expect(answers.allSatisfy { $1["data"]?["number"] == .integer(Int64($0)) })
    }

    @Test(
        "A cancelled call does not wait for its answer and leaves the others alone", .timeLimit(.minutes(10)),
        arguments: Subject.all)
    func cancellation(_ subject: Subject) async throws {
        let app = try await subject.app()
        // Ten minutes: a call that waited for its answer would run into the time limit.
        let slow = Task { try await app.service("slow").get(600_000) }
        slow.cancel()
        await #expect(throws: CancellationError.self) { try await slow.value }
        #expect(try await app.service("echo").get(1)["method"] == "get")
    }

    @Test("A call that takes too long fails with a timeout", arguments: Subject.all.filter(\.keepsTimeouts))
    func timeout(_ subject: Subject) async throws {
        try await MachineLoad.settles()
        let slow = try await subject.app().service("slow")
        await #expect {
            try await slow.get(60_000, params: Params(timeout: .seconds(3)))
        } throws: { error in
            (error as? FeathersError)?.execution == .mayHaveExecuted && FeathersError.Code.timeout ~= error
        }
    }

    @Test("Models go in and come out", arguments: Subject.all)
    func models(_ subject: Subject) async throws {
        struct Message: Codable, Sendable, Equatable {
            var id: ServiceID?
            var text: String
            var room: String
            var sentAt: Date
        }
        let messages = try await subject.app().service("messages", of: Message.self)
        let message = Message(
            text: "Hi", room: try #require(room.string), sentAt: Date(timeIntervalSince1970: 1_704_164_645.678))
        let created = try await messages.create(message)
        let id = try #require(created.id)
        #expect(created.sentAt == message.sentAt)
        #expect(try await messages.find(.where("room", message.room)).data == [created])
        #expect(try await messages.patch(id, with: ["text": "Ho"]).text == "Ho")
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Sending from an outbox", .timeLimit(.minutes(10)))
struct OutboxSendingTests {
    @Test("What was handed in before the app lives is sent once it does, with the key in the header")
    func sent() async throws {
        let scene = try await OutboxApp()
        let queued = try await scene.messages.outbox.create(["text": "Hi"])
        #expect(scene.outbox.state.entries.map(\.status) == [.waiting])
        #expect(scene.server.requests.isEmpty)
        try await scene.live { _ in
            let result = try await queued.result()
            #expect(result == ["text": "Hi"])
        }
        let request = try #require(scene.server.requests.first)
        #expect(request.path == "messages" && request.method == .create && request.data == ["text": "Hi"])
        #expect(request.params.headers == ["Idempotency-Key": "\"\(queued.write.key.uuidString.lowercased())\""])
        #expect(scene.outbox.state.entries.isEmpty)
    }

    @Test("Writes to one record go in their order, each once the one before it is done with")
    func order() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate)))
        for number in 0..<5 { try await scene.messages.outbox.patch(7, with: ["n": .integer(Int64(number))]) }
        // The same record, whatever its id is written as.
        let last = try await scene.messages.outbox.remove("7", query: ["reason": "done"])
        try await scene.live { _ in
            try await scene.transport.waitForRequest(number: 1)
            #expect(scene.outbox.state.entries.map(\.status) == [.sending] + Array(repeating: .waiting, count: 5))
            #expect(scene.transport.requests.count == 1)
            gate.resolve(())
            _ = try await last.result()
        }
        #expect(scene.server.requests.prefix(5).map { $0.data?["n"] } == (0..<5).map { .integer($0) })
        #expect(scene.server.requests.last?.method == .remove && scene.server.requests.last?.params.query.json == ["reason": "done"])
    }

    @Test("A later process sends what an earlier one has left, and only that")
    func restart() async throws {
        let folder = try OutboxFolder()
        let first = try await OutboxApp(in: folder)
        let done = try await first.messages.outbox.patch(1, with: ["n": 1])
        try await first.live { _ in _ = try await done.result() }
        let second = try await OutboxApp(in: folder)
        #expect(second.outbox.state.entries.isEmpty)
        let left = try await second.messages.outbox.patch(2, with: ["n": 2], query: ["$select": ["id"]], route: ["room": "1"])
        await second.outbox.close()

        let third = try await OutboxApp(in: folder)
        #expect(third.outbox.state.entries.map(\.write) == [left.write])
        let result = try await third.live { _ in try await third.outbox.result(of: left.id) }
        #expect(result == ["n": 2])
        #expect(third.server.requests.count == 1)
        #expect(third.server.requests.first?.params.route == ["room": "1"])
        await #expect(throws: FeathersError.self) { try await third.outbox.result(of: left.id) }
    }

    @Test("A write follows the earlier ones to its record, also those that an earlier process queued when the record's id was provisional")
    func restartAfterCreation() async throws {
        let (folder, made) = (try OutboxFolder(), Promise<Void>())
        made.resolve(())
        let first = try await OutboxApp(in: folder, server: AnsweringServer(.held(made), .held(Promise())))
        try await first.live { _ in
            _ = try await first.messages.outbox.create(["id": 7]).result()
            try await first.messages.outbox.patch(7, with: ["n": 1])
            try await first.transport.waitForRequest(number: 2)
        }
        let gate = Promise<Void>()
        let second = try await OutboxApp(in: folder, server: AnsweringServer(.held(gate))) { $0.isKeyed = true }
        let last = try await second.messages.outbox.patch(7, with: ["n": 2])
        try await second.live { _ in
            try await second.transport.waitForRequest(number: 1)
            #expect(second.outbox.state.entries.map(\.status) == [.sending, .waiting])
            gate.resolve(())
            _ = try await last.result()
        }
        #expect(second.server.requests.map { $0.data?["n"] } == [1, 2])
    }

    @Test(
        "Without keys, what was on its way when the process died is asked about and not sent; with them it is sent again",
        arguments: [true, false])
    func died(_ isKeyed: Bool) async throws {
        let folder = try OutboxFolder()
        let first = try await OutboxApp(in: folder, server: AnsweringServer(.held(Promise())))
        let queued = try await first.messages.outbox.create(["text": "Hi"])
        // The app's life ends before the answer comes.
        try await first.live { _ in try await first.transport.waitForRequest(number: 1) }
        let second = try await OutboxApp(in: folder) { $0.isKeyed = isKeyed }
        try await second.live { _ in
            if isKeyed {
                _ = try await second.outbox.result(of: queued.id)
            } else {
                let state = try await second.outbox.wait { $0.entries.first?.status == .awaitingDecision }
                #expect(state.entries.first?.failure?.reason == .unknown)
                #expect(state.entries.first?.failure?.mayHaveExecuted == true)
            }
        }
        #expect(second.server.requests.count == (isKeyed ? 1 : 0))
    }

    @Test("Sent again, a write has the same key", arguments: [FeathersError.Execution.neverSent, .mayHaveExecuted, .answered])
    func sameKey(_ execution: FeathersError.Execution) async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.unavailable, execution))) {
            $0.isKeyed = true
            $0.keyPlaces = [.query("key")]
        }
        let queued = try await scene.messages.outbox.create(["text": "Hi"])
        try await scene.live { _ in
            try await scene.clock.waitForSleepers(1)
            #expect(scene.server.requests.count == 1)
            scene.clock.advance(by: .seconds(1))
            _ = try await queued.result()
        }
        let keys = scene.server.requests.map { $0.params.query.json["key"] }
        #expect(keys.count == 2 && Set(keys) == [.string(queued.write.key.uuidString.lowercased())])
    }

    @Test("As the record's id, the key also tells later writes where they belong; a repetition that finds it taken is done")
    func recordID() async throws {
        let scene = try await OutboxApp(
            server: AnsweringServer(AnsweringServer.failing(.timeout, .mayHaveExecuted), AnsweringServer.failing(.conflict))
        ) {
            $0.services["/messages/"] = OutboxServiceOptions(isKeyed: true, keyPlaces: [.recordID("_id")])
        }
        let created = try await scene.messages.outbox.create(["text": "Hi"])
        let id = try #require(created.write.data?["_id"]?.string)
        let patched = try await scene.messages.outbox.patch(id, with: ["text": "Ho"])
        try await scene.live { _ in
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            _ = try await created.result()
            _ = try await patched.result()
        }
        #expect(scene.server.requests.map(\.method) == [.create, .create, .get, .patch])
        #expect(scene.server.requests.map(\.id) == [nil, nil, .string(id), .string(id)])
    }

    @Test("Custom methods stand among the writes of a record, or in no order; Feathers' own are refused")
    func customMethods() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate)))
        try await scene.messages.outbox.update(7, with: ["n": 1])
        let ordered = try await scene.messages.outbox.call("archive", with: ["id": 7], amongWritesOf: 7)
        try await scene.live { _ in
            // What is in no order goes beside the update, and may be the first to arrive: the update shall be the one that is held.
            try await scene.transport.waitForRequest(number: 1)
            _ = try await scene.messages.outbox.call("notify").result()
            #expect(scene.server.requests.map(\.method) == [.update, "notify"])
            gate.resolve(())
            _ = try await ordered.result()
        }
        #expect(scene.server.requests.last?.method == "archive" && scene.server.requests.last?.id == nil)
        await #expect { try await scene.messages.outbox.call(.patch) } throws: { "\($0)".contains("is not a custom method") }
    }

    @Test("Data that JSON can not express is refused and not in the outbox")
    func inexpressible() async throws {
        let scene = try await OutboxApp()
        await #expect { try await scene.messages.outbox.create(["n": .number(.nan)]) } throws: { error in
            (error as? FeathersError)?.code == .badRequest && "\(error)".contains("JSON")
        }
        #expect(scene.outbox.state.entries.isEmpty)
        await scene.outbox.close()
    }

    @Test("Without an outbox, or with a second one, the app says so")
    func installation() async throws {
        await #expect { try await FeathersApp().service("messages").outbox.create([:]) } throws: { "\($0)".contains("use(outbox:)") }
        let scene = try await OutboxApp()
        #expect(throws: FeathersError.self) { try scene.app.use(outbox: scene.outbox) }
        #expect(scene.app.outbox === scene.outbox)
    }
}

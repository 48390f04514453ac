import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Squashing and merging queued writes", .timeLimit(.minutes(10)))
struct OutboxMergingTests {
    @Test("Consecutive patches of a record that have not been sent become one, also on disk")
    func squashed() async throws {
        let folder = try OutboxFolder()
        let first = try await OutboxApp(in: folder) { $0.squashesPatches = true }
        let one = try await first.messages.outbox.patch(1, with: ["a": 1, "b": 1])
        let two = try await first.messages.outbox.patch(1, with: ["b": 2])
        try await first.messages.outbox.patch(2, with: ["b": 3])
        #expect(one.id == two.id && two.write.data == ["a": 1, "b": 2])
        #expect(first.outbox.state.entries.map(\.write.data) == [["a": 1, "b": 2], ["b": 3]])
        await first.outbox.close()
        let second = try await OutboxApp(in: folder)
        try await second.live { _ in try await second.outbox.wait { $0.entries.isEmpty } }
        #expect(Set(second.server.requests.map(\.data)) == [["a": 1, "b": 2], ["b": 3]])
    }

    @Test("A patch that has been sent is not changed any more")
    func sent() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate))) { $0.squashesPatches = true }
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.live { _ in
            try await scene.transport.waitForRequest(number: 1)
            let later = try await scene.messages.outbox.patch(1, with: ["n": 2])
            gate.resolve(())
            _ = try await later.result()
        }
        #expect(scene.server.requests.map(\.data) == [["n": 1], ["n": 2]])
    }

    @Test(
        "Merging keeps what the write has changed and takes the rest from the server",
        arguments: [
            (["text": "mine"], ["text": "old"], ["text": "theirs", "n": 2], false, ["text": "mine"]),
            (
                ["text": "mine", "n": 1], ["text": "old", "n": 1], ["text": "old", "n": 2], false,
                ["text": "mine", "n": 2]
            ),
            (["text": "mine"], nil, ["text": "theirs"], false, ["text": "mine"]),
            (
                ["text": "old", "n": 3], ["text": "old", "n": 1], ["text": "theirs", "n": 2, "m": 5], true,
                ["text": "theirs", "n": 3, "m": 5]
            ),
        ] as [(JSONValue, JSONValue?, JSONValue, Bool, JSONValue)])
    func merged(ours: JSONValue, base: JSONValue?, server: JSONValue, isWhole: Bool, expected: JSONValue) {
        #expect(ours.merged(since: base, with: server, isWhole: isWhole) == expected)
    }

    @Test("After a conflict, the decision sees the base, the write and the server's record")
    func conflict() async throws {
        let server = MemoryService(startID: 1, records: [["id": 1, "text": "old", "version": 1]])
        let requests = Locked<[ServiceRequest]>([])
        let transport = StubTransport { request in
            requests.withLock { $0.append(request) }
            if request.method == .patch, let version = request.data?["version"],
                try await server.get(1, Params())["version"] != version
            {
                throw FeathersError(.conflict, "Too late")
            }
            return try await server.respond(to: request).result
        }
        let app = FeathersApp(transport: transport)
        let folder = try OutboxFolder()
        let failures = Locked<[OutboxFailure]>([])
        let outbox = try await Outbox(file: folder.file) { options in
            options.decide = { failure in
                failures.withLock { $0.append(failure) }
                return .merge
            }
        }
        try app.use(outbox: outbox)
        let notes = app.service("notes")
        var live = notes.live(.sorted(by: "id")).makeAsyncIterator()
        #expect(try await live.next()?.count == 1)
        try await notes.outbox.patch(1, with: ["text": "mine", "version": 1])
        // Somebody else is faster.
        _ = try await server.patch(1, with: ["n": 7, "version": 2], Params())
        try await withFeathersApp(app) { _ in
            let left = try await outbox.flush(within: .seconds(300))
            #expect(left.isEmpty)
        }
        await outbox.close()
        let failure = try #require(failures.withLock { $0.first })
        #expect(failure.base == ["id": 1, "text": "old", "version": 1])
        #expect(failure.current == ["id": 1, "text": "old", "version": 2, "n": 7])
        #expect(try await server.get(1, Params()) == ["id": 1, "text": "mine", "version": 2, "n": 7])
    }

    @Test("A flush ends when all that is left needs a decision, and in time")
    func flush() async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.forbidden)))
        let refused = try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.messages.outbox.patch(2, with: ["n": 2])
        try await scene.live { _ in
            let left = try await scene.outbox.flush(within: .seconds(60))
            #expect(left.map(\.status) == [.awaitingDecision])
            #expect(left.map(\.id).count == 1 && (left.first?.id == refused.id || left.first?.write.recordID == 2))
        }
    }

    @Test("A flush returns what is left when its time is over")
    func flushInTime() async throws {
        let scene = try await OutboxApp(
            server: AnsweringServer(
                AnsweringServer.failing(.unavailable, .neverSent), AnsweringServer.failing(.unavailable, .neverSent)))
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.live { _ in
            // The delay of the write's first attempt, which goes on, that of the second, and the limit of the flush.
            try await scene.clock.waitForSleepers(1)
            async let flushed = scene.outbox.flush(within: .milliseconds(500))
            try await scene.clock.waitForSleepers(3)
            scene.clock.advance(by: .milliseconds(600))
            let left = try await flushed
            #expect(left.count == 1)
        }
    }
}

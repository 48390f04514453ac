import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("What each write of an outbox waits for", .timeLimit(.minutes(5)))
struct OutboxConditionsTests {
    @Test("A write waits for the one before it, for the creation that it refers to, and without an app for an app")
    func own() async throws {
        let scene = try await OutboxApp()
        let created = try await scene.messages.outbox.create(["n": 1])
        let first = try await scene.messages.outbox.patch(7, with: ["n": 2])
        try await scene.messages.outbox.patch(7, with: ["n": 3])
        try await scene.app.service("replies").outbox.create(["message": #require(created.recordID).json])
        #expect(
            scene.outbox.state.entries.map(\.waitsFor) == [.run, .run, .write(first.id), .write(created.id)])
        await scene.outbox.close()
    }

    @Test("A write that refers to another user's record says whose write it waits for")
    func otherUser() async throws {
        let scene = try await OutboxApp()
        scene.app.setIdentity(Identity("alice"))
        let created = try await scene.messages.outbox.create(["n": 1])
        scene.app.setIdentity(Identity("bob"))
        try await scene.app.service("replies").outbox.create(["message": #require(created.recordID).json])
        #expect(scene.outbox.state.entries.map(\.waitsFor) == [.writeOfOtherUser(created.id)])
        await scene.outbox.close()
    }

    @Test("A write that is sent waits for nothing, a refused one for a decision, and the others for their turn")
    func sending() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate), AnsweringServer.failing(.forbidden))) {
            $0.concurrentLanes = 1
        }
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.messages.outbox.patch(2, with: ["n": 2])
        try await scene.live { _ in
            try await scene.outbox.wait { $0.entries.map(\.waitsFor) == [nil, .turn] }
            gate.resolve(())
            try await scene.outbox.wait { $0.entries.map(\.waitsFor) == [.decision] }
        }
    }

    @Test("A server that cannot be reached, and one that asks for a sign-in, are what all writes wait for")
    func gates() async throws {
        let scene = try await OutboxApp(
            server: AnsweringServer(
                AnsweringServer.failing(.unavailable, .neverSent), AnsweringServer.failing(.notAuthenticated)))
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.live { _ in
            try await scene.outbox.wait { $0.entries.map(\.waitsFor) == [.server] }
            scene.outbox.retryNow()
            try await scene.outbox.wait { $0.entries.map(\.waitsFor) == [.signIn] }
        }
    }

    @Test("A patch that a server has received takes in no later one, also after a restart: one key, one payload")
    func sentOnce() async throws {
        let folder = try OutboxFolder()
        let busy = AnsweringServer(AnsweringServer.failing(.tooManyRequests))
        let first = try await OutboxApp(in: folder, server: busy) { $0.squashesPatches = true }
        try await first.messages.outbox.patch(1, with: ["a": 1])
        try await first.live { _ in try await first.outbox.wait { $0.entries.first?.status == .retrying } }

        let second = try await OutboxApp(in: folder) { $0.squashesPatches = true }
        try await second.messages.outbox.patch(1, with: ["b": 2])
        try await second.messages.outbox.patch(1, with: ["c": 3])
        #expect(second.outbox.state.entries.map(\.write.data) == [["a": 1], ["b": 2, "c": 3]])
        await second.outbox.close()
    }

    @Test("A patch that did not reach the server takes in later ones")
    func neverSent() async throws {
        let down = AnsweringServer(AnsweringServer.failing(.unavailable, .neverSent))
        let scene = try await OutboxApp(server: down) { $0.squashesPatches = true }
        try await scene.messages.outbox.patch(1, with: ["a": 1])
        try await scene.live { _ in
            try await scene.outbox.wait { $0.activity == .unreachable }
            try await scene.messages.outbox.patch(1, with: ["b": 2])
            #expect(scene.outbox.state.entries.map(\.write.data) == [["a": 1, "b": 2]])
        }
    }

    @Test("What is known of names is stored: an id, that the server did not say one, and that there is no record")
    func storedNames() async throws {
        let folder = try OutboxFolder()
        let journal = try Journal(folder.file)
        defer { journal.close() }
        let names: [String: Names.Name] = ["a": .assigned(7), "b": .unknown, "c": .gone]
        _ = try journal.append([
            Journal.entry(.ended(WriteEnd(write: .sample(1), outcome: .discarded, names: names)))
        ])
        let stored = try JournalTables.names(in: journal.database)
        #expect(Dictionary(uniqueKeysWithValues: stored.map { ($0.key, $0.name) }) == names)
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Writes that are queued as one unit.
@Suite("A group of writes", .timeLimit(.minutes(10)))
struct OutboxGroupTests {
    private struct Failure: Error {}

    @Test("is queued when its closure returns, all in order, with the writes that refer to each other")
    func queued() async throws {
        let scene = try await GroupScene()
        let (board, card) = try await scene.outbox.group {
            let board = try await scene.boards.outbox.create(["name": "plans"])
            try await scene.boards.outbox.patch(board.provisionalID, with: ["name": "better plans"])
            let card = try await scene.cards.outbox.create(["name": "milk", "board": board.provisionalID])
            #expect(try scene.outbox.state.entries.isEmpty && scene.folder.found().isEmpty)
            return (board, card)
        }
        let after = try await scene.cards.outbox.patch(card.provisionalID, with: ["name": "tea"])
        let found = try scene.folder.found().map(\.write)
        #expect(found.map(\.id) == scene.outbox.state.entries.map(\.id))
        #expect(found.map(\.previous) == [nil, found[0].id, found[1].id, nil])
        #expect(found.map(\.id).first == board.id && found.last?.id == after.id)
        try await scene.flush()
        #expect(scene.names == ["plans", "better plans", "milk", "tea"])
        let executed = scene.executed.withLock { $0 }
        #expect(executed.map(\.id) == [nil, 1, nil, 3] && executed[2].data?["board"] == 1)
        #expect(try await board.result()["id"] == 1)
        #expect(try await card.result()["id"] == 3)
        await scene.close()
    }

    @Test("whose closure throws, or is cancelled, queues nothing, and its results fail", arguments: [false, true])
    func failed(isCancelled: Bool) async throws {
        let scene = try await GroupScene()
        let made = Locked<[QueuedWrite<JSONValue>]>([])
        let task = Task {
            try await scene.outbox.group {
                for name in ["a", "b"] {
                    let write = try await scene.cards.outbox.create(["name": .string(name)] as JSONValue)
                    made.withLock { $0.append(write) }
                }
                guard isCancelled else { throw Failure() }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect { try await task.value } throws: { isCancelled ? $0 is CancellationError : $0 is Failure }
        #expect(try scene.outbox.state.entries.isEmpty && scene.folder.found().isEmpty)
        for write in made.withLock({ $0 }) {
            await #expect { try await write.result() } throws: { "\($0)".contains("its group failed") }
            await #expect { try await scene.outbox.result(of: write.id) } throws: { FeathersError.Code.notFound ~= $0 }
        }
        #expect(made.withLock { $0.count } == 2)
        await scene.close()
    }

    @Test("that does not fit, or that the disk refuses, leaves nothing behind", arguments: [2, nil])
    func full(limit: Int?) async throws {
        var limits = Journal.Limits()
        if let limit { limits.writes = limit }
        let scene = try await GroupScene(limits: limits)
        let first = try await scene.cards.outbox.create(["name": "first"])
        if limit == nil { try await scene.outbox.journal.refuseWrites(true) }
        let made = Locked<[QueuedWrite<JSONValue>]>([])
        await #expect {
            try await scene.outbox.group {
                for name in ["a", "b"] {
                    let write = try await scene.cards.outbox.create(["name": .string(name)] as JSONValue)
                    made.withLock { $0.append(write) }
                }
            }
        } throws: {
            "\($0)".contains("'\(scene.folder.file.path)' \(limit == nil ? "cannot be written" : "is full")")
        }
        #expect(scene.outbox.state.entries.map(\.id) == [first.id])
        #expect(try scene.folder.found().map(\.write.id) == [first.id])
        for write in made.withLock({ $0 }) {
            await #expect { try await write.result() } throws: { FeathersError.Code.generalError ~= $0 }
        }
        if limit == nil { try await scene.outbox.journal.refuseWrites(false) }
        // What was refused takes no room.
        try await scene.outbox.group { _ = try await scene.cards.outbox.create(["name": "second"]) }
        try await scene.flush()
        #expect(Set(scene.names) == ["first", "second"])
        await scene.close()
    }

    @Test("is held back as a whole by a write that needs a decision, also after a restart")
    func heldBack() async throws {
        let scene = try await GroupScene()
        scene.refuse("b", .unprocessable)
        let writes = try await scene.outbox.group {
            var writes: [QueuedWrite<JSONValue>] = []
            for name in ["a", "b", "c"] {
                writes.append(try await scene.cards.outbox.create(["name": .string(name)] as JSONValue))
            }
            return writes
        }
        try await scene.flush()
        #expect(scene.names == ["a"])
        #expect(scene.outbox.state.entries.map(\.status) == [.awaitingDecision, .waiting])
        await scene.close()
        let second = try await GroupScene(in: scene.folder)
        try await second.cards.outbox.create(["name": "another"])
        try await second.flush()
        #expect(second.names == ["another"])
        try await second.outbox.decide(.replace(["name": "B"]), for: writes[1].id)
        try await second.flush()
        #expect(second.names == ["another", "B", "c"])
        await second.close()
    }

    @Test("is sent in order even if the server defers a write")
    func deferred() async throws {
        let scene = try await GroupScene()
        scene.refuse("a", .unavailable, .tooManyRequests)
        try await scene.outbox.group {
            for name in ["a", "b", "c"] { try await scene.cards.outbox.create(["name": .string(name)] as JSONValue) }
        }
        try await scene.flush()
        #expect(scene.names == ["a", "b", "c"])
        await scene.close()
    }

    @Test("ends with a write that is discarded, and so does what refers to those after it")
    func discarded() async throws {
        let scene = try await GroupScene()
        let (first, second, third) = try await scene.outbox.group {
            let first = try await scene.cards.outbox.create(["name": "a"])
            let second = try await scene.cards.outbox.patch(7, with: ["name": "b"])
            return (first, second, try await scene.cards.outbox.create(["name": "c"]))
        }
        let referring = try await scene.boards.outbox.create(["name": "d", "card": third.provisionalID])
        let other = try await scene.boards.outbox.create(["name": "e", "card": first.provisionalID])
        try await scene.outbox.decide(.discard, for: second.id)
        #expect(scene.outbox.state.entries.map(\.id) == [first.id, other.id])
        #expect(try scene.folder.found().map(\.write.id) == [first.id, other.id])
        await #expect { try await third.result() } throws: { "\($0)".contains("an earlier one of its group") }
        await #expect { try await referring.result() } throws: { "\($0)".contains("whose creation was discarded") }
        try await scene.flush()
        #expect(scene.names == ["a", "e"])
        await scene.close()
    }

    @Test("inside another one joins it, and fails alone")
    func nested() async throws {
        let scene = try await GroupScene()
        let failed = try await scene.outbox.group {
            try await scene.cards.outbox.create(["name": "a"])
            try await scene.outbox.group {
                try await scene.cards.outbox.create(["name": "b"])
                try await scene.cards.outbox.create(["name": "c"])
            }
            #expect(scene.outbox.state.entries.isEmpty)
            let failed = Locked<QueuedWrite<JSONValue>?>(nil)
            try? await scene.outbox.group {
                let write = try await scene.cards.outbox.create(["name": "never"])
                failed.withLock { $0 = write }
                throw Failure()
            }
            try await scene.cards.outbox.create(["name": "d"])
            return failed.withLock { $0 }
        }
        await #expect { try await failed?.result() } throws: { "\($0)".contains("its group failed") }
        let found = try scene.folder.found().map(\.write)
        #expect(found.map(\.previous) == [nil] + found.dropLast().map(\.id))
        try await scene.flush()
        #expect(scene.names == ["a", "b", "c", "d"])
        await scene.close()
    }

    @Test("without writes does nothing, and one of other outboxes leaves theirs alone")
    func others() async throws {
        let (scene, other) = (try await GroupScene(), try await GroupScene())
        #expect(try await scene.outbox.group { 1 } == 1)
        #expect(try scene.folder.found().isEmpty)
        try await scene.outbox.group {
            try await other.cards.outbox.create(["name": "at once"])
            #expect(other.outbox.state.entries.count == 1)
            try await other.outbox.group {
                try await scene.cards.outbox.create(["name": "own"])
                try await other.cards.outbox.create(["name": "theirs"])
            }
            #expect(other.outbox.state.entries.count == 2 && scene.outbox.state.entries.isEmpty)
        }
        #expect(scene.outbox.state.entries.map { $0.write.data?["name"] } == ["own"])
        await scene.close()
        await other.close()
    }

    @Test("takes the writes of child tasks; what a task writes that outlives it follows")
    func tasks() async throws {
        let scene = try await GroupScene()
        let (began, ended) = (Promise<Void>(), Promise<Void>())
        let late = try await scene.outbox.group {
            async let child = scene.cards.outbox.create(["name": "a"])
            _ = try await child
            let late = Task {
                began.resolve(())
                try await ended.value()
                return try await scene.cards.outbox.create(["name": "b"])
            }
            try await began.value()
            return late
        }
        #expect(scene.outbox.state.entries.count == 1)
        ended.resolve(())
        #expect(try await late.value.write.previous == nil)
        #expect(try scene.folder.found().map { $0.write.data?["name"] } == ["a", "b"])
        await scene.close()
    }

    @Test("does not wait for its own results, which come after it")
    func ownResult() async throws {
        let scene = try await GroupScene()
        try await scene.outbox.group {
            let write = try await scene.cards.outbox.create(["name": "a"])
            await #expect { try await write.result() } throws: { "\($0)".contains("after the group") }
        }
        #expect(scene.outbox.state.entries.count == 1)
        await scene.close()
    }

    @Test("warns once about direct calls that write, which are not part of it")
    func directCalls() async throws {
        let scene = try await GroupScene()
        let warnings = Locked<[String]>([])
        scene.app.use(
            diagnostics: .text { line in warnings.withLock { if line.contains("in a group") { $0.append(line) } } })
        try await scene.outbox.group {
            _ = try await scene.cards.find()
            try await scene.cards.outbox.create(["name": "a"])
            #expect(warnings.withLock(\.isEmpty))
            for name in ["b", "c"] { try await scene.cards.create(["name": .string(name)] as JSONValue) }
            try await scene.boards.remove(1)
        }
        try await scene.cards.create(["name": "d"] as JSONValue)
        try await scene.flush()
        #expect(scene.names == ["b", "c", "?", "d", "a"])
        let lines = warnings.withLock { $0 }
        #expect(lines.count == 1 && lines.first?.contains("'create' of service 'cards' is called in a group") == true)
        await scene.close()
    }

    @Test(
        "belongs to its user, and is refused after a sign-out or another's sign-in",
        arguments: [(nil, "alice", true), ("alice", "alice", true), ("alice", nil, false), ("alice", "bob", false)]
            as [(String?, String?, Bool)])
    func users(_ before: String?, _ after: String?, _ isQueued: Bool) async throws {
        let scene = try await GroupScene()
        scene.app.setIdentity(before.map { Identity($0) })
        do {
            try await scene.outbox.group {
                try await scene.cards.outbox.create(["name": "a"])
                scene.app.setIdentity(after.map { Identity($0) })
                if after != nil { try await scene.cards.outbox.create(["name": "b"]) }
            }
            #expect(isQueued)
            #expect(try scene.folder.found().map(\.write.identity) == [Identity("alice"), Identity("alice")])
        } catch {
            #expect(
                !isQueued && "\(error)".contains("signed-in user changed")
                    && FeathersError.Code.notAuthenticated ~= error)
            #expect(try scene.folder.found().isEmpty)
        }
        await scene.close()
    }

    @Test("takes no patch into its writes, and none of its patches is taken into an earlier write")
    func unsquashed() async throws {
        let scene = try await GroupScene()
        try await scene.cards.outbox.patch(1, with: ["name": "a"])
        try await scene.outbox.group {
            for name in ["b", "c"] { try await scene.cards.outbox.patch(1, with: ["name": .string(name)] as JSONValue) }
        }
        for name in ["d", "e"] { try await scene.cards.outbox.patch(1, with: ["name": .string(name)] as JSONValue) }
        #expect(scene.outbox.state.entries.map { $0.write.data?["name"] } == ["a", "b", "c", "e"])
        try await scene.flush()
        #expect(scene.names == ["a", "b", "c", "e"])
        await scene.close()
    }

    @Test("comes after the writes to its records that were queued before it, and before those after it")
    func lanes() async throws {
        let scene = try await GroupScene { $0.squashesPatches = false }
        scene.refuse("1", .unavailable)
        scene.refuse("b", .unavailable)
        try await scene.cards.outbox.patch(1, with: ["name": "1"])
        try await scene.outbox.group {
            try await scene.cards.outbox.patch(2, with: ["name": "a"])
            // Queued by another task before the end of the group.
            _ = try await Task.detached { try await scene.cards.outbox.patch(1, with: ["name": "2"]) }.value
            try await scene.cards.outbox.patch(1, with: ["name": "b"])
        }
        try await scene.cards.outbox.patch(1, with: ["name": "3"])
        try await scene.flush()
        #expect(scene.names.filter { $0 != "a" } == ["1", "2", "b", "3"])
        await scene.close()
    }

    @Test("is shown in one step")
    func liveRows() async throws {
        // The app does not run, so that nothing is sent.
        let scene = try await GroupScene()
        let live = scene.cards.live(.where("kind", .equals("new")))
        let counts = Task {
            var counts: [Int] = []
            for try await snapshot in live.snapshots {
                counts.append(snapshot.records.count)
                if snapshot.records.count >= 700 { break }
            }
            return counts
        }
        for _ in 0..<100 {
            try await scene.outbox.group {
                for number in 0..<7 { try await scene.cards.outbox.create(["number": number, "kind": "new"]) }
            }
        }
        let shown = try await counts.value
        #expect(shown.count > 2 && shown.allSatisfy { $0 % 7 == 0 }, "\(shown)")
        await scene.close()
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Writes that an older version of the app has queued.
@Suite("Migrating an outbox", .timeLimit(.minutes(10)))
struct OutboxMigrationTests {
    private struct Failure: Error {}

    /// Renames the property `title`, which the older version wrote, to `name`.
    @Sendable private static func rename(_ write: inout OutboxWrite) {
        guard let title = write.data?["title"] else { return }
        write.data?["title"] = nil
        write.data?["name"] = title
    }

    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    /// Queues writes in a process of the older version.
    private func queue(_ body: (GroupScene) async throws -> Void) async throws {
        let scene = try await GroupScene(in: folder)
        try await body(scene)
        await scene.close()
    }

    @Test("renames a property in what waits and in what needs a decision, before it is shown")
    func property() async throws {
        try await queue { scene in
            scene.refuse("?", .unprocessable)
            try await scene.cards.outbox.create(["title": "a"])
            try await scene.flush()
            try await scene.cards.outbox.patch(7, with: ["title": "b"])
        }
        let scene = try await GroupScene(in: folder) { $0.migrate = Self.rename }
        let entries = scene.outbox.state.entries
        #expect(entries.map(\.write.data) == [["name": "a"], ["name": "b"]])
        #expect(entries.map(\.failure?.write) == [entries[0].write, nil])
        #expect(try folder.found().map(\.write) == entries.map(\.write))
        try await scene.outbox.decide(.retry, for: entries[0].id)
        try await scene.flush()
        #expect(Set(scene.names) == ["a", "b"])
        await scene.close()
    }

    @Test("renames a service's path, and keeps the order and the references of what follows")
    func path() async throws {
        try await queue { scene in
            try await scene.outbox.group {
                let board = try await scene.boards.outbox.create(["name": "plans"])
                try await scene.cards.outbox.create(["name": "milk", "board": board.provisionalID])
                try await scene.boards.outbox.patch(board.provisionalID, with: ["name": "better plans"])
            }
            try await scene.boards.outbox.patch(7, with: ["name": "1"])
        }
        let scene = try await GroupScene(in: folder) { options in
            options.squashesPatches = false
            options.migrate = { if $0.path == "boards" { $0.path = "/lists/" } }
        }
        scene.refuse("plans", .unavailable)
        scene.refuse("1", .unavailable)
        let found = try folder.found().map(\.write)
        #expect(found.map(\.path) == ["lists", "cards", "lists", "lists"])
        #expect(found[0].lane == found[2].lane && found[3].lane == "lists?#7")
        // What is queued now joins their lanes.
        let lists = scene.app.service("lists")
        try await lists.outbox.patch(found[0].id.text, with: ["name": "best plans"])
        try await lists.outbox.patch(7, with: ["name": "2"])
        try await scene.flush()
        let executed = scene.executed.withLock { $0 }
        let plans = executed.filter { $0.path == "lists" && $0.id != 7 }
        #expect(plans.map { $0.data?["name"] } == ["plans", "better plans", "best plans"])
        #expect(executed.filter { $0.id == 7 }.map { $0.data?["name"] } == ["1", "2"])
        let board = scene.names.firstIndex(of: "plans").map { JSONValue.integer(Int64($0 + 1)) }
        #expect(executed.first { $0.path == "cards" }?.data?["board"] == board)
        #expect(plans.dropFirst().allSatisfy { $0.id?.json == board })
        await scene.close()
    }

    @Test("changes record, route, query, method and base, and moves the write to its record's lane")
    func record() async throws {
        try await queue { scene in
            try await scene.cards.outbox.update(7, with: ["name": "a"], route: ["room": "1"])
            try await scene.cards.outbox.patch("seven", with: ["name": "b"])
            try await scene.cards.outbox.call("publish", with: ["name": "c"])
        }
        let scene = try await GroupScene(in: folder) { options in
            options.migrate = { write in
                switch write.method {
                case .update:
                    (write.recordID, write.route, write.method) = ("seven", [:], .patch)
                    (write.query, write.base) = (Query(["old": true]), ["name": "old"])
                case "publish": (write.method, write.recordID) = ("release", "seven")
                default: break
                }
            }
        }
        let writes = scene.outbox.state.entries.map(\.write)
        #expect(writes.map(\.method) == [.patch, .patch, "release"] && Set(writes.map(\.lane)) == ["cards?#seven"])
        #expect(writes[0].query == Query(["old": true]) && writes[0].base == ["name": "old"])
        try await scene.flush()
        #expect(scene.names == ["a", "b", "c"])
        await scene.close()
    }

    @Test("that fails opens nothing, says where, and changes nothing", arguments: [false, true])
    func failure(becomesCreation: Bool) async throws {
        try await queue { scene in
            for title in ["a", "b"] {
                try await scene.cards.outbox.patch(7, with: ["title": .string(title)] as JSONValue)
            }
            try await scene.cards.outbox.patch(8, with: ["title": "c"])
        }
        let before = try folder.found()
        let last = try #require(before.last?.write.id)
        await #expect {
            _ = try await GroupScene(in: folder) { options in
                options.migrate = { write in
                    Self.rename(&write)
                    guard write.id == last else { return }
                    if becomesCreation { write.method = .create } else { throw Failure() }
                }
            }
        } throws: {
            "\($0)".contains("'\(folder.file.path)' cannot be used: the write '\(last.text)' cannot be migrated")
                && "\($0)".contains(becomesCreation ? "'create'" : "Failure") && $0 is FeathersError
        }
        #expect(try folder.found().text == before.text)
        // The file is not locked.
        let scene = try await GroupScene(in: folder)
        #expect(scene.outbox.state.entries.map(\.write) == before.map(\.write))
        await scene.close()
    }

    @Test("is asked about each write at each opening, and writes nothing that has not changed")
    func reopened() async throws {
        try await queue { scene in
            try await scene.cards.outbox.create(["title": "a"])
            try await scene.cards.outbox.create(["name": "b"])
        }
        let asked = Locked<[UUID]>([])
        var files: [[UInt8]] = []
        for count in 1...3 {
            let scene = try await GroupScene(in: folder) { options in
                options.migrate = { write in
                    asked.withLock { $0.append(write.id) }
                    Self.rename(&write)
                }
            }
            #expect(asked.withLock { $0 } == (0..<count).flatMap { _ in scene.outbox.state.entries.map(\.id) })
            await scene.close()
            files.append(try folder.bytes(of: "writes.outbox"))
        }
        #expect(files[0] == files[1] && files[1] == files[2])
        #expect(try folder.found().map(\.write.data) == [["name": "a"], ["name": "b"]])
    }

    @Test("has happened once the process is killed after it, as a whole")
    func killed() async throws {
        try await queue { scene in
            for title in ["a", "b"] { try await scene.cards.outbox.create(["title": .string(title)] as JSONValue) }
        }
        let first = try await GroupScene(in: folder) { $0.migrate = Self.rename }
        let copy = try folder.copy()
        await first.close()
        let second = try await GroupScene(in: copy) { options in
            options.migrate = { if $0.data?["title"] != nil { throw Failure() } }
        }
        try await second.flush()
        #expect(Set(second.names) == ["a", "b"])
        await second.close()
    }
}

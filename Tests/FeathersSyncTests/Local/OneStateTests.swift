import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Stored records", .timeLimit(.minutes(10)))
struct OneStateTests {
    private typealias Cards = Query<JSONValue>

    private static let all = Cards.sorted(by: "id")
    private static let open = Cards.where("open", true).sorted(by: "id")

    /// A server with cards, and an app that stores lists of them.
    private struct Scene: Sendable {
        let local: LocalScene
        let app: FeathersApp
        var cards: Service<JSONValue> { app.service("cards") }

        init(_ count: Int = 2) async throws {
            local = try LocalScene()
            for number in 1...count {
                _ = try await local.server.create(
                    ["text": "old", "open": .bool(number % 2 == 1), "n": .integer(Int64(number % 7))], Params())
            }
            app = try await local.app()
        }

        /// Shows a list until it satisfies a condition, and stores it.
        func show(
            _ query: Query<JSONValue>, after change: () async throws -> Void = {},
            until isRight: (LiveSnapshot<JSONValue>) -> Bool = { _ in true }
        ) async throws {
            var live = cards.live(query).snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
            await app.storedLists?.write(app.diagnostics)
            try await change()
            while true {
                let snapshot = try #require(try await live.next())
                if isRight(snapshot) { break }
            }
            await app.storedLists?.write(app.diagnostics)
        }

        /// Shows a list, and stores it.
        func visit(_ query: Query<JSONValue>) async throws {
            var live = cards.live(query).snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
            await app.storedLists?.write(app.diagnostics)
        }

        /// A later process without a server.
        func later() async throws -> FeathersApp {
            await app.outbox?.close()
            local.isOnline.withLock { $0 = false }
            return try await local.app()
        }
    }

    /// The first snapshot of a list.
    private func first(_ query: Cards, in app: FeathersApp) async throws -> [JSONValue] {
        var live = app.service("cards").live(query).snapshots.makeAsyncIterator()
        return try #require(try await live.next()).map(\.record)
    }

    private func texts(_ records: [JSONValue]) -> [String] {
        records.map { "\($0["id"]?.integer ?? 0) \($0["text"]?.string ?? "")" }
    }

    @Test("have one state in all lists, whichever of them was shown when it arrived, and as the base of a write")
    func oneState() async throws {
        let scene = try await Scene(3)
        try await scene.visit(Self.open)
        try await scene.show(Self.all) {
            _ = try await scene.cards.patch(1, with: ["text": "new"])
        } until: {
            $0.contains { $0.record["text"] == "new" }
        }
        let app = try await scene.later()
        #expect(try await texts(first(Self.all, in: app)) == ["1 new", "2 old", "3 old"])
        #expect(try await texts(first(Self.open, in: app)) == ["1 new", "3 old"])
        for query in [Self.all, Self.open] {
            var live = app.service("cards").live(query).snapshots.makeAsyncIterator()
            _ = try await live.next()
            let write = try await app.service("cards").outbox.patch(1, with: ["n": 1])
            #expect(write.write.base?["text"] == "new")
            try await app.outbox?.decide(.discard, for: write.id)
        }
        await app.outbox?.close()
    }

    @Test("leave and join the lists that were not shown when they changed")
    func membership() async throws {
        let scene = try await Scene(5)
        try await scene.visit(Self.open)
        try await withFeathersApp(scene.app) { _ in
            try await scene.show(Self.all) {
                _ = try await scene.cards.patch(1, with: ["open": false])
                _ = try await scene.cards.patch(2, with: ["open": true])
                _ = try await scene.cards.remove(3)
                _ = try await scene.cards.create(["open": true, "text": "created"])
                _ = try await scene.cards.create(["open": false, "text": "last"])
            } until: {
                $0.contains { $0.record["text"] == "last" }
            }
        }
        let app = try await scene.later()
        let all = try await texts(first(Self.all, in: app))
        #expect(all == ["1 old", "2 old", "4 old", "5 old", "6 created", "7 last"])
        #expect(try await texts(first(Self.open, in: app)) == ["2 old", "5 old", "6 created"])
        await app.outbox?.close()
    }

    @Test("of executed writes are there offline, however large they are", arguments: [1_000, 70_000, 5_000_000])
    func executed(_ size: Int) async throws {
        let scene = try await Scene()
        try await scene.visit(Self.all)
        let text = "new" + String(repeating: "x", count: size)
        try await withFeathersApp(scene.app) { _ in
            _ = try await scene.cards.outbox.patch(1, with: ["text": .string(text)]).result()
        }
        let app = try await scene.later()
        #expect(try await first(Self.all, in: app).map { $0["text"] } == [.string(text), "old"])
        await app.outbox?.close()
    }

    @Test("are there once, however many lists have them")
    func size() async throws {
        let scene = try await Scene(300)
        try await scene.visit(Self.all)
        let size = try await #require(scene.app.localStore).contents().size
        let others = [Cards.sorted(by: "n"), Cards.sorted(by: "text"), Cards.where("text", "old")]
        for query in others { try await scene.visit(query) }
        let contents = try await #require(scene.app.localStore).contents()
        #expect(contents.results.map(\.count) == [300, 300, 300, 300] && contents.size == size)
        await scene.app.outbox?.close()
    }

    @Test("that are shaped for one query are its own, and show what is newer")
    func shaped() async throws {
        let scene = try await Scene()
        let shaped = Cards.sorted(by: "id").selecting("n")
        try await scene.visit(shaped)
        #expect(try await scene.app.outbox?.records(at: "cards").map { $0.value?["text"] } == [nil, nil])
        try await withFeathersApp(scene.app) { _ in
            _ = try await scene.cards.outbox.patch(1, with: ["n": 100]).result()
        }
        let app = try await scene.later()
        #expect(try await first(shaped, in: app) == [["n": 100, "id": 1], ["n": 2, "id": 2]])
        await app.outbox?.close()
    }

    @Test("that no list has are removed once they are older than all lists, except those of queued writes")
    func orphans() async throws {
        let scene = try await Scene(4)
        try await scene.visit(Self.all)
        try await scene.visit(Self.open)
        func stored() async throws -> [String]? { try await scene.app.outbox?.records(at: "cards").map(\.key) }
        try await scene.cards.outbox.patch(3, with: ["n": 9])
        // No list has these two any more. The next one is stored at the time of the older list.
        try await scene.show(Self.all) {
            _ = try await scene.cards.remove(1)
            _ = try await scene.cards.remove(3)
        } until: {
            $0.count == 2
        }
        let journal = try #require(scene.app.outbox?.journal)
        try await journal.write { try LocalRoom.removeOrphans(in: $0) }
        #expect(try await stored() == ["1", "2", "3", "4"])
        try await scene.visit(Self.open)
        try await scene.visit(Self.all)
        try await journal.write { try LocalRoom.removeOrphans(in: $0) }
        #expect(try await stored() == ["2", "3", "4"])
        await scene.app.outbox?.close()
    }

    @Test("that have changed since are all placed in a list, however many they are")
    func many() async throws {
        let scene = try await Scene(1_501)
        try await scene.visit(Self.open)
        try await scene.visit(Self.all)
        // All that a list of all has are newer than the other one.
        let app = try await scene.later()
        var live = app.service("cards").live(Self.open).snapshots.makeAsyncIterator()
        var count = 0
        while count < 751 { count = try #require(try await live.next()).count }
        #expect(count == 751)
        await app.outbox?.close()
    }
}

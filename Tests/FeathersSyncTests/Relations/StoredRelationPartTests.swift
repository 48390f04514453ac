import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("The latest records and the counts on this device", .timeLimit(.minutes(5)))
struct StoredRelationPartTests {
    private static let last = Message.reactions.latest(1)
    private static let pluses = Message.reactions.count(where: .where(.emoji, "+"))

    private func live(_ remote: RelationRemote, _ app: FeathersApp) -> LiveSnapshots<Message> {
        LiveSnapshots(
            source: remote.messages(app).including(Self.last.including(Reaction.by), Self.pluses).source)
    }

    /// What a row shows.
    private func shown(_ row: LiveRow<Message>) -> String {
        let last = row[Self.last].map { "\($0.emoji)\($0[Reaction.by]?.name ?? "")" }.joined()
        return "\(row.text) \(last) \(row[Self.pluses].map(String.init) ?? "nil")"
    }

    @Test("open with the list without a server, and show queued writes")
    func offline() async throws {
        let remote = try RelationRemote(page: 10)
        var app = try await remote.app(local: true)
        try await withFeathersApp(app) { app in
            var snapshots = live(remote, app).makeAsyncIterator()
            _ = try await snapshots.next { $0.source == .server && $0.allSatisfy { $0.hasLoaded(Self.pluses) } }
            await app.storedLists?.write(app.diagnostics)
        }
        await app.outbox?.close()
        remote.isOnline.withLock { $0 = false }
        app = try await remote.app(local: true)
        try await withFeathersApp(app) { app in
            var snapshots = live(remote, app).makeAsyncIterator()
            let first = try await snapshots.next { $0.map(shown) == ["a -Cy 1", "b  0", "c !Ada 0", "d ~Cy 0"] }
            #expect(first.source != .server)
            #expect(first.allSatisfy { $0.hasLoaded(Self.last) && $0.hasLoaded(Self.pluses) })
            let reactions = app.service("reactions", of: Reaction.self)
            try await reactions.outbox.create(["messageID": 2, "emoji": "+", "userID": 1])
            let next = try await snapshots.next { shown($0[1]) == "b +Ada 1" }
            #expect(next[1][Self.last].first?.state == .pending)
            try await reactions.outbox.remove(1)
            _ = try await snapshots.next { shown($0[0]) == "a -Cy 0" }
            try await reactions.outbox.remove(2)
            _ = try await snapshots.next { shown($0[0]) == "a  0" }
        }
        await app.outbox?.close()
    }

    @Test("of a queued record are those of queued writes, and its provisional id is not sent")
    func provisional() async throws {
        let remote = try RelationRemote(page: 10)
        let app = try await remote.app(local: true)
        let pump = remote.pump()
        defer { pump.cancel() }
        try await withFeathersApp(app) { app in
            var snapshots = live(remote, app).makeAsyncIterator()
            _ = try await snapshots.next { $0.source == .server && $0.allSatisfy { $0.hasLoaded(Self.pluses) } }
            remote.isOnline.withLock { $0 = false }
            try await app.service("messages").outbox.create(["text": "e"])
            let queued = try await snapshots.next { $0.count == 5 && $0.contains { shown($0) == "e  0" } }
            let id = try #require(queued.first { $0.text == "e" }?.record.id)
            try await app.service("reactions").outbox.create(["messageID": .integer(Int64(id)), "emoji": "+"])
            _ = try await snapshots.next { $0.contains { shown($0) == "e + 1" } }
            remote.isOnline.withLock { $0 = true }
            _ = try await app.outbox?.flush(within: .seconds(60))
            let last = try await snapshots.next {
                $0.source == .server && !$0.hasPendingWrites && $0.allSatisfy { $0.hasLoaded(Self.pluses) }
                    && $0.contains { shown($0) == "e + 1" && $0.record.id > 0 }
            }
            #expect(last.count == 5)
            let finds = remote.requests.withLock { $0.filter { $0.method == .find }.map { "\($0.params.query.json)" } }
            #expect(!finds.contains { $0.contains("\(id)") || $0.contains(/[0-9a-f]{8}-/) })
        }
        await app.outbox?.close()
    }

    @Test("are never those of another user")
    func users() async throws {
        let remote = try RelationRemote(page: 10)
        remote.user.withLock { $0 = "ada" }
        let app = try await remote.app(local: true, as: "ada")
        let pump = remote.pump()
        defer { pump.cancel() }
        try await withFeathersApp(app) { app in
            var snapshots = live(remote, app).makeAsyncIterator()
            _ = try await snapshots.next { $0.map(shown) == ["a - 1", "b  0", "c !Ada 0"] }
            remote.user.withLock { $0 = "bob" }
            app.setIdentity(Identity("bob"))
            let seen = Locked<[String]>([])
            _ = try await snapshots.next { snapshot in
                seen.withLock { $0 += snapshot.map(shown) }
                return snapshot.map(shown) == ["d ~Cy 0"]
            }
            #expect(seen.withLock { Set($0).isSubset(of: ["d ~Cy 0", "d  nil", "d ~ 0", "d  0", "d ~Cy nil"]) })
            app.setIdentity(nil)
            _ = try await snapshots.next(until: \.isEmpty)
        }
        await app.outbox?.close()
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("The latest records and the counts of a relation", .timeLimit(.minutes(5)))
struct RelationPartTests {
    private static let last = Message.reactions.latest(1)
    private static let pluses = Message.reactions.count(where: .where(.emoji, "+"))

    /// What a row shows.
    private func shown(_ row: LiveRow<Message>) -> String {
        let last = row[Self.last].map { "\($0.emoji)\($0[Reaction.by]?.name ?? "")" }.joined()
        return "\(row.text) \(last) \(row[Self.pluses].map(String.init) ?? "nil")"
    }

    @Test("take one limited find for each row, and follow events without another")
    func events() async throws {
        let remote = try RelationRemote(page: 10)
        let app = try await remote.app(
            over: StubRealTimeTransport(passingThrough: StubTransport { try await remote.respond(to: $0) }))
        let live = remote.messages(app).including(Self.last.including(Reaction.by), Self.pluses)
        let reactions = app.service("reactions")
        try await withFeathersApp(app) { _ in
            var snapshots = live.snapshots.makeAsyncIterator()
            let first = try #require(try await snapshots.next())
            #expect(first.map(shown) == ["a -Cy 1", "b  0", "c !Ada 0", "d ~Cy 0"])
            #expect(first.allSatisfy { $0.hasLoaded(Self.last) && $0.hasLoaded(Self.pluses) })
            let latest = remote.requests.withLock { $0.map(\.params.query).filter { $0.json["$sort"]?["id"] == -1 } }
            #expect(
                Set(latest) == Set((1...4).map { ["messageID": .integer($0), "$sort": ["id": -1], "$limit": 2] }))
            #expect(remote.finds.count { $0 == "reactions" } == 8)
            try await reactions.create(["messageID": 2, "emoji": "+", "userID": 1])
            let next = try await snapshots.next { shown($0[1]) == "b +Ada 1" }
            #expect(next.changes.updates == [1])
            try await reactions.remove(1)
            try await reactions.remove(2)
            _ = try await snapshots.next { shown($0[0]) == "a  0" }
            try await reactions.patch(10, with: ["messageID": 3])
            let last = try await snapshots.next { shown($0[2]) == "c +Ada 1" }
            #expect(last.map(shown) == ["a  0", "b  0", "c +Ada 1", "d ~Cy 0"])
            try await app.service("messages").remove(3)
            #expect(try await snapshots.next()?.map(shown) == ["a  0", "b  0", "d ~Cy 0"])
            #expect(remote.finds.count { $0 == "reactions" } == 8)
        }
    }

    @Test("are the last ones in the order of the relation, in either direction", arguments: [true, false])
    func order(_ isDescending: Bool) async throws {
        let scene = try await RelationScene(page: 10)
        let reactions = Message.relation(
            toMany: Reaction.self, at: "reactions", by: .messageID,
            .sorted(by: .emoji, isDescending ? .descending : .ascending))
        for emoji in ["c", "a", "b"] { try await scene.reactions.create(["messageID": 2, "emoji": .string(emoji)]) }
        let latest = reactions.latest(2)
        var snapshots = scene.messages.live(.sorted(by: .id)).including(latest, reactions).snapshots.makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first[1][latest].map(\.emoji) == ["c", "b"])
        #expect(first[1][reactions].map(\.emoji) == (isDescending ? ["c", "b", "a"] : ["a", "b", "c"]))
    }

    @Test("come from a function of the app in one call, if it has one")
    func function() async throws {
        let scene = try await RelationScene(page: 10)
        let calls = Locked<[[ServiceID]]>([])
        let counts = Message.reactions.count(where: .where(.emoji, "+")) { _, ids in
            calls.withLock { $0.append(ids) }
            return ["1": 41]
        }
        var snapshots = scene.messages.live(.sorted(by: .id)).including(counts).snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.map { $0[counts] } == [41, 0, 0])
        #expect(Set(calls.withLock { $0.joined() }) == [1, 2, 3])
        try await scene.reactions.create(["messageID": 1, "emoji": "+", "userID": 1])
        #expect(try await snapshots.next()?.map { $0[counts] } == [42, 0, 0])
        #expect(scene.finds.withLock { !$0.contains("reactions") })
    }

    @Test("say why they are missing")
    func failures() async throws {
        let scene = try await RelationScene()
        try await scene.messages.patch(1, with: ["readers": [1]])
        let unique = Message.readers.latest(1)
        var refused = scene.messages.live().including(unique).snapshots.makeAsyncIterator()
        #expect(await #expect(throws: FeathersError.self) { _ = try await refused.next() }?.code == .badRequest)
        var snapshots = scene.messages.live().including(Self.pluses, Self.last).snapshots.makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first[0][Self.pluses] == nil && first[0].relatedFailure(Self.pluses)?.code == .notImplemented)
        #expect(first[0][Self.last].map(\.emoji) == ["-"] && first[0].relatedFailure(Self.last) == nil)
    }
}

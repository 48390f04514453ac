import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("A condition on a related record", .timeLimit(.minutes(5)))
struct RelatedConditionTests {
    @Test("is applied in two steps, and follows the related records")
    func follows() async throws {
        let scene = try await RelationScene()
        let live = scene.messages.live(.sorted(by: .id)).where(Message.author, .where(.teamID, 1))
        var snapshots = live.snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.map(\.text) == ["a", "c"])
        #expect(scene.finds.withLock { $0 } == ["users", "messages"])
        try await scene.messages.create(["text": "d", "authorID": 1])
        #expect(try await snapshots.next()?.map(\.text) == ["a", "c", "d"])
        try await scene.users.patch(2, with: ["teamID": 1])
        let next = try #require(try await snapshots.next())
        #expect(next.map(\.text) == ["a", "b", "c", "d"] && next.changes.insertions == [1])
        try await scene.users.patch(1, with: ["teamID": 2])
        #expect(try await snapshots.next()?.map(\.text) == ["b"])
        try await scene.users.patch(2, with: ["teamID": 2])
        #expect(try await snapshots.next()?.isEmpty == true)
    }

    @Test("applies beside the query's own conditions and limit")
    func limited() async throws {
        let scene = try await RelationScene()
        let live = scene.messages.live(.sorted(by: .id, .descending).limit(1)).where(Message.author, .where(.teamID, 1))
            .including(Message.author)
        var snapshots = live.snapshots.makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.map(\.text) == ["c"] && first.hasMore && first[0][Message.author]?.name == "Ada")
    }

    @Test("reads the related records in pages, and refuses more than 1,000 of them", arguments: [1_000, 1_001])
    func bound(_ count: Int) async throws {
        let app = FeathersApp()
        let users = (1...count).map { ["id": .integer(Int64($0)), "name": "A", "teamID": 1] as JSONObject }
        try await app.use(MemoryService(pagination: Pagination(default: 10, max: 400), records: users), at: "users")
        let messages = (1...2).map { ["id": .integer($0), "text": "a", "authorID": .integer($0 * 500)] as JSONObject }
        try await app.use(MemoryService(records: messages), at: "messages")
        let live = app.service("messages", of: Message.self).live(.sorted(by: .id))
            .where(Message.author, .where(.teamID, 1))
        var snapshots = live.snapshots.makeAsyncIterator()
        if count == 1_000 {
            #expect(try await snapshots.next()?.count == 2)
        } else {
            let error = await #expect(throws: FeathersError.self) { try await snapshots.next() }
            #expect(error?.code == .badRequest && error?.message.contains("More than 1000 records") == true)
        }
    }
}

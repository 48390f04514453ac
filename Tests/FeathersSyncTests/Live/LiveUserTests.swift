import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("A live query of the signed-in user", .timeLimit(.minutes(5)))
struct LiveUserTests {
    private let app = FeathersApp()
    private let finds = Locked<[Query<JSONValue>]>([])

    private func messages() async throws -> Service<Message> {
        let records: [JSONObject] = (1...6).map {
            ["id": .integer($0), "text": .string("\($0)"), "authorID": .integer($0 % 2 + 1)]
        }
        try await app.use(MemoryService(startID: 7, records: records), at: "messages")
        await app.service("messages").use(
            hooks: Hooks(before: [
                "find": [{ [finds] context in finds.withLock { $0.append(context.params.query) } }]
            ]))
        return app.service("messages", of: Message.self)
    }

    private func signIn(_ id: Int, team: Int? = nil) {
        app.setIdentity(
            Identity("\(id)"), user: ["id": .integer(Int64(id)), "name": "A", "teamID": .integer(Int64(team ?? 0))])
    }

    private static func mine(_ messages: Service<Message>) -> LiveQuery<Message> {
        messages.live { (user: User) in .where(.authorID, user.id).sorted(by: .id) }
    }

    @Test("shows nothing without one, then each user's own records and never the former one's")
    func users() async throws {
        let messages = try await messages()
        var live = Self.mine(messages).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.isEmpty == true)
        #expect(finds.withLock { $0 } == [])
        signIn(1)
        #expect(try await live.next()?.map(\.id) == ["2", "4", "6"])
        try await messages.create(["text": "n", "authorID": 1])
        #expect(try await live.next()?.map(\.id) == ["2", "4", "6", "7"])
        signIn(2)
        let emptied = try #require(try await live.next())
        #expect(emptied.isEmpty && emptied.changes.removals == [0, 1, 2, 3])
        #expect(try await live.next()?.map(\.id) == ["1", "3", "5"])
        app.setIdentity(nil)
        #expect(try await live.next()?.isEmpty == true)
        #expect(finds.withLock { $0.map { $0.json["authorID"] } } == [1, 2])
    }

    @Test("follows the record of the user")
    func record() async throws {
        let messages = try await messages()
        signIn(1, team: 1)
        let query = messages.live { (user: User) in .where(.authorID, user.teamID ?? 0).sorted(by: .id) }
        var live = query.snapshots.makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == ["2", "4", "6"])
        app.recordUser(["id": 1, "name": "A", "teamID": 2], of: Identity("1"))
        app.identityChanged()
        let next = try #require(try await live.next())
        // The rows of the first query stay until those of the second one are there.
        #expect(next.map(\.id) == ["1", "3", "5"] && next.changes.removals == [0, 1, 2])
    }

    @Test("refuses a user of another model")
    func otherModel() async throws {
        let messages = try await messages()
        signIn(1)
        var live = messages.live { (user: Team) in .where(.authorID, user.id) }.makeAsyncIterator()
        let error = await #expect(throws: FeathersError.self) { try await live.next() }
        #expect(error?.message.contains("The signed-in user cannot be decoded as Team") == true)
    }

    @Test("shows related records and counts of its rows")
    func relations() async throws {
        let messages = try await messages()
        try await app.use(MemoryService(records: [["id": 1, "name": "Ada"]]), at: "users")
        signIn(1)
        var live = Self.mine(messages).including(Message.author).snapshots.makeAsyncIterator()
        var snapshot = try #require(try await live.next())
        while snapshot.first?[Message.author] == nil { snapshot = try #require(try await live.next()) }
        #expect(snapshot.map { $0[Message.author]?.name } == ["Ada", "Ada", "Ada"])
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("Related records", .timeLimit(.minutes(5)))
struct RelationTests {
    @Test("join the rows of a live query, one and many, in their order")
    func oneAndMany() async throws {
        let scene = try await RelationScene()
        let live = scene.messages.live(.sorted(by: "id")).including(Message.author, Message.reactions)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map(\.text) == ["a", "b", "c"])
        #expect(snapshot.map { $0[Message.author]?.name } == ["Ada", "Bob", "Ada"])
        #expect(snapshot.map { $0[Message.reactions].map(\.emoji) } == [["+", "-"], [], ["!"]])
        #expect(snapshot.allSatisfy { $0.hasLoaded(Message.author) && $0.hasLoaded(Message.reactions) })
        #expect(scene.finds.withLock { $0.sorted() } == ["messages", "reactions", "users"])
    }

    @Test("change exactly the rows that they concern")
    func changes() async throws {
        let scene = try await RelationScene()
        let live = scene.messages.live(.sorted(by: "id")).including(Message.author, Message.reactions)
        var snapshots = live.snapshots.makeAsyncIterator()
        _ = try await snapshots.next()
        try await scene.users.patch(1, with: ["name": "Adele"])
        var snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.author]?.name } == ["Adele", "Bob", "Adele"])
        #expect(snapshot.changes.updates == [0, 2] && snapshot.changes.insertions.isEmpty)
        try await scene.reactions.create(["messageID": 2, "emoji": "?"])
        snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.reactions].map(\.emoji) } == [["+", "-"], ["?"], ["!"]])
        #expect(snapshot.changes.updates == [1])
        // A move between parents.
        try await scene.reactions.patch(1, with: ["messageID": 3])
        snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.reactions].map(\.emoji) } == [["-"], ["?"], ["+", "!"]])
        #expect(snapshot.changes.updates == [0, 2])
        // Another author.
        try await scene.messages.patch(3, with: ["authorID": 2])
        snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.author]?.name } == ["Adele", "Bob", "Bob"])
        #expect(scene.finds.withLock { $0.count } == 3)
    }

    @Test("of a new row are fetched when it arrives, and only then")
    func newRow() async throws {
        let scene = try await RelationScene()
        let live = scene.messages.live(.sorted(by: "id")).including(Message.author)
        var snapshots = live.snapshots.makeAsyncIterator()
        _ = try await snapshots.next()
        try await scene.messages.create(["text": "d", "authorID": 3])
        var snapshot = try #require(try await snapshots.next())
        while snapshot.last?[Message.author] == nil { snapshot = try #require(try await snapshots.next()) }
        #expect(snapshot.last?[Message.author]?.name == "Cy")
        #expect(scene.finds.withLock { $0 } == ["messages", "users", "users"])
    }

    @Test("can have related records of their own")
    func nested() async throws {
        let scene = try await RelationScene()
        let live = scene.messages.live(.sorted(by: "id")).including(
            Message.author.including(User.team), Message.reactions.including(Reaction.by))
        var snapshots = live.snapshots.makeAsyncIterator()
        var snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.author]?[User.team]?.title } == ["Red", "Blue", "Red"])
        #expect(snapshot[0][Message.reactions].map { $0[Reaction.by]?.name } == ["Bob", "Cy"])
        try await scene.app.service("teams").patch(1, with: ["title": "Green"])
        snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.author]?[User.team]?.title } == ["Green", "Blue", "Green"])
        #expect(snapshot.changes.updates == [0, 2])
        #expect(scene.finds.withLock { $0.sorted() } == ["messages", "reactions", "teams", "users", "users"])
    }

    @Test("that the user may not see, or that do not exist, are nil")
    func invisible() async throws {
        let scene = try await RelationScene()
        try await scene.messages.create(["text": "d", "authorID": 99])
        await scene.app.service("reactions").use(
            hooks:
                Hooks(before: ["find": [{ _ in throw FeathersError(.forbidden, "No reactions") }]]))
        let live = scene.messages.live(.sorted(by: "id")).including(Message.author, Message.reactions)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.author]?.name } == ["Ada", "Bob", "Ada", nil])
        #expect(snapshot.allSatisfy { $0[Message.reactions].isEmpty })
    }

    @Test("that the server embeds are used as they are")
    func embedded() async throws {
        let scene = try await RelationScene()
        await scene.app.service("messages").use(
            hooks:
                Hooks(after: [
                    "find": [
                        { context in
                            guard let records = context.result?.array else { return }
                            context.result = .array(
                                records.map { record in
                                    var object = record.object ?? [:]
                                    object["author"] = ["id": object["authorID"] ?? 0, "name": "embedded"]
                                    return .object(object)
                                })
                        }
                    ]
                ]))
        let live = scene.messages.live(.sorted(by: "id")).including(Message.embeddedAuthor)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.embeddedAuthor]?.name } == ["embedded", "embedded", "embedded"])
        #expect(scene.finds.withLock { $0 } == ["messages"])
    }

    @Test("that another query shows are not fetched again")
    func shared() async throws {
        let scene = try await RelationScene()
        var users = scene.users.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        _ = try await users.next()
        let live = scene.messages.live(.sorted(by: "id")).including(Message.author)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Message.author]?.name } == ["Ada", "Bob", "Ada"])
        #expect(scene.finds.withLock { $0 } == ["users", "messages"])
    }

    @Test("of an array of ids are in its order")
    func someOf() async throws {
        let scene = try await RelationScene()
        try await scene.messages.patch(1, with: ["readers": [3, 1, 99]])
        let live = scene.messages.live(.where("id", 1)).including(Message.readers)
        var snapshots = live.snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.first?[Message.readers].map(\.name) == ["Cy", "Ada"])
    }

    @Test("cannot be limited, which is said when the query is read")
    func limited() async throws {
        let scene = try await RelationScene()
        let relation = Message.relation(toMany: Reaction.self, at: "reactions", by: .messageID, Query().limit(3))
        var snapshots = scene.messages.live().including(relation).snapshots.makeAsyncIterator()
        let refusal = await #expect(throws: FeathersError.self) { try await snapshots.next() }
        #expect(refusal?.message.contains("$limit") == true && refusal?.message.contains("reactions") == true)
    }

    @Test("that the server refuses alone keep no snapshot waiting")
    func refusedAlone() async throws {
        let scene = try await RelationScene()
        await scene.app.service("reactions").use(
            hooks: Hooks(before: ["find": [{ _ in throw FeathersError(.forbidden, "No reactions") }]]))
        var live = scene.messages.live(.sorted(by: "id")).including(Message.reactions).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.map { $0[Message.reactions].count } == [0, 0, 0])
    }

    @Test("of 1,000 records are fetched with one more request")
    func requests() async throws {
        let scene = try await RelationScene()
        try await scene.app.use(
            MemoryService(records: (0..<50).map { ["id": .integer($0), "name": .string("user \($0)")] }), at: "people")
        try await scene.app.use(
            MemoryService(
                records: (0..<1000).map {
                    ["id": .integer($0), "text": "a", "authorID": .integer($0 % 50)]
                }), at: "letters")
        for path in ["people", "letters"] {
            await scene.app.service(path).use(
                hooks: Hooks(before: ["find": [{ [scene] _ in scene.finds.withLock { $0.append(path) } }]]))
        }
        let author = Message.relation(to: User.self, at: "people", by: .authorID)
        let letters = scene.app.service("letters", of: Message.self)
        var live = letters.live(.sorted(by: "id")).including(author).snapshots.makeAsyncIterator()
        var snapshot = try #require(try await live.next())
        #expect(snapshot.indices.allSatisfy { snapshot[$0][author]?.name == "user \($0 % 50)" })
        #expect(scene.finds.withLock { $0 } == ["letters", "people"])
        try await scene.app.service("people").patch(7, with: ["name": "new"])
        snapshot = try #require(try await live.next())
        #expect(snapshot.changes.updates == Array(stride(from: 7, to: 1000, by: 50)))
    }

    @Test("of two relations to one service are stored apart")
    func keys() async throws {
        let scene = try await RelationScene()
        let kinds: [RelationKind] = [.toOne("authorID"), .toOne("editorID"), .toSome("readers")]
        let texts = kinds.map { kind in
            let plan = RelationPlan<User>(path: "users", id: "id", kind: kind, query: Query(), embedded: nil)
            return plan.source(of: scene.messages.live().source).listKey(for: nil)?.text
        }
        #expect(Set(texts).count == 3 && !texts.contains(nil))
    }
}

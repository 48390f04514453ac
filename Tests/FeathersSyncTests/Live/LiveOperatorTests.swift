import FeathersCore
import FeathersSupport
import FeathersSync
import FeathersTesting
import Testing

@Suite("A live query with operators of the server's, and its total", .timeLimit(.minutes(10)))
struct LiveOperatorTests {
    private static let like = QueryOperator("$like") { value, pattern in
        value?.string?.contains(pattern.string ?? "") ?? false
    }

    /// A service that knows an operator, and how often it has been asked for a list.
    private func service(_ texts: String..., pagination: Pagination? = nil) async throws -> (
        Service<JSONValue>, Locked<Int>
    ) {
        let finds = Locked(0)
        let records = texts.enumerated().map { ["id": .integer(Int64($0 + 1)), "text": .string($1)] as JSONObject }
        let memory = MemoryService(
            startID: 10, multi: .all, pagination: pagination, operators: [Self.like], records: records)
        let app = FeathersApp()
        let service = try await app.use(memory, at: "messages")
        await service.use(hooks: Hooks(before: ["find": [{ _ in finds.withLock { $0 += 1 } }]]))
        return (service, finds)
    }

    @Test("judges events with the caller's closure, and does not fetch again")
    func closure() async throws {
        let (messages, finds) = try await service("abc", "xyz")
        var live = messages.live(["text": ["$like": "b"]], operators: [Self.like]).makeAsyncIterator()
        #expect(try await live.next()?.map { $0["text"] } == ["abc"])
        try await messages.create(["text": "bbb"])
        #expect(try await live.next()?.map { $0["text"] } == ["abc", "bbb"])
        try await messages.patch(1, with: ["text": "ccc"])
        #expect(try await live.next()?.map { $0["text"] } == ["bbb"])
        #expect(finds.withLock { $0 } == 1)
    }

    @Test("passes the record to a closure for an operator at the top level")
    func search() async throws {
        let transport = StubTransport { _ in [["id": 1, "text": "abc"]] }
        let messages = FeathersApp(transport: transport).service("messages")
        let search = QueryOperator("$search") { record, words in
            record?["text"]?.string?.contains(words.string ?? "") ?? false
        }
        var live = messages.live(["$search": "b"], operators: [search]).makeAsyncIterator()
        #expect(try await live.next()?.count == 1)
        messages.emit(.created, ["id": 2, "text": "bcd"])
        messages.emit(.created, ["id": 3, "text": "xyz"])
        #expect(try await live.next()?.map { $0["id"] } == [1, 2])
    }

    @Test("fetches once for several events without a closure, after a while")
    func debounced() async throws {
        let (messages, finds) = try await service("abc", "xyz")
        let clock = ManualClock()
        var live = messages.live(["text": ["$like": "b"]]).measured(by: clock).makeAsyncIterator()
        #expect(try await live.next()?.count == 1)
        for text in ["b1", "b2", "c"] { try await messages.create(["text": .string(text)]) }
        async let advanced: Void = {
            try await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(250))
        }()
        #expect(try await live.next()?.map { $0["text"] } == ["abc", "b1", "b2"])
        try await advanced
        #expect(finds.withLock { $0 } == 2)
    }

    @Test("counts a result of which it shows no record")
    func count() async throws {
        let records: [JSONObject] = (1...3).map { ["id": .integer($0), "isRead": .bool($0 == 2)] }
        let messages = MemoryService(
            startID: 4, pagination: Pagination(default: 10, max: 10), records: records)
        let app = FeathersApp()
        let service = try await app.use(messages, at: "messages")
        var snapshots = service.live(.where("isRead", false).limit(0)).snapshots.makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.isEmpty && first.total == 2 && first.source == .server)
        _ = try await service.create(["isRead": false])
        #expect(try await snapshots.next()?.total == 3)
        // Whether the record was counted is known to the service alone, which is asked after a while.
        _ = try await service.patch(1, with: ["isRead": true])
        while let next = try await snapshots.next(), next.total != 2 || next.isTotalEstimated {
            #expect(next.isEmpty)
        }
    }

    @Test("counts the whole result, and says when it cannot know")
    func total() async throws {
        let (messages, _) = try await service(
            "a", "b", "c", "d", "e", "f", "g", "h", pagination: Pagination(default: 10, max: 50))
        var live = messages.live(.where("text", .notEquals("x")).sorted(by: "id").limit(2)).snapshots
            .makeAsyncIterator()
        let first = try #require(await live.next())
        #expect(first.records.count == 2 && first.total == 8 && !first.isTotalEstimated)
        try await messages.remove(1)
        let fewer = try #require(await live.next())
        #expect(fewer.total == 7 && !fewer.isTotalEstimated && fewer.changes.removals == [0])
        // Beyond the known part. The fetch may have counted it already.
        try await messages.create(["text": "i"])
        let more = try #require(await live.next())
        #expect(more.total == 8 && more.isTotalEstimated && more.records == fewer.records)
    }
}

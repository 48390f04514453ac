import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("A live count", .timeLimit(.minutes(5)))
struct LiveCountTests {
    private let finds = Locked<[Query<JSONValue>]>([])
    private let app = FeathersApp()
    private let clock = ManualClock()

    /// Messages of which every third is read.
    private func messages(_ count: Int, isPaginated: Bool = true) async throws -> Service<JSONValue> {
        let records = (1...count).map { ["id": .integer(Int64($0)), "isRead": .bool($0 % 3 == 0)] as JSONObject }
        let pagination = isPaginated ? Pagination(default: 10, max: 10) : nil
        let service = try await app.use(
            MemoryService(startID: Int64(count + 1), pagination: pagination, records: records), at: "messages")
        await service.use(
            hooks: Hooks(before: [
                "find": [{ [finds] context in finds.withLock { $0.append(context.params.query) } }]
            ]))
        return service
    }

    /// The requests for totals alone.
    private var asked: Int { finds.withLock { $0.count { $0.json["$limit"] == 0 } } }

    private static let unread: Query<JSONValue> = .where("isRead", false)

    /// Reads a count with the test's clock.
    private func count(_ service: Service<JSONValue>) -> LiveCounts<JSONValue>.Iterator {
        var source = service.live(Self.unread).source
        (source.query, source.clock) = (source.query.counting, clock)
        return LiveCounts(source: source).makeAsyncIterator()
    }

    @Test("follows created and removed records without another request, and without their number")
    func events() async throws {
        let messages = try await messages(30)
        var counts = count(messages)
        try await next(&counts, 20)
        try await messages.create(["isRead": false])
        try await next(&counts, 21)
        try await messages.create(["isRead": true])
        try await messages.remove(3)
        try await messages.remove(1)
        try await next(&counts, 20)
        try await messages.remove(31)
        try await next(&counts, 19)
        #expect(asked == 1)
    }

    @Test("follows changes of records whose former state is known")
    func known() async throws {
        let messages = try await messages(30)
        var live = messages.live(.sorted(by: "id").limit(5)).snapshots.makeAsyncIterator()
        _ = try await live.next()
        var counts = count(messages)
        try await next(&counts, 20)
        try await messages.patch(1, with: ["isRead": true])
        try await next(&counts, 19)
        try await messages.patch(1, with: ["isRead": false])
        try await next(&counts, 20)
        try await messages.patch(2, with: ["text": "b"])
        try await messages.patch(3, with: ["isRead": false])
        try await next(&counts, 21)
        #expect(asked == 1)
    }

    @Test("asks again after changes of records that are not known, once for several of them")
    func unknown() async throws {
        let messages = try await messages(30)
        var counts = count(messages)
        try await next(&counts, 20)
        for id in 1...3 { try await messages.patch(id, with: ["isRead": true]) }
        async let advanced: Void = {
            try await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(250))
        }()
        try await next(&counts, 18)
        try await advanced
        #expect(asked == 2)
    }

    @Test("is that of the conditions alone")
    func conditions() async throws {
        let messages = try await messages(30)
        let query = Self.unread.sorted(by: "text").limit(3).skip(2).selecting("id")
        var counts = messages.liveCount(query).makeAsyncIterator()
        try await next(&counts, 20)
        #expect(finds.withLock { $0 } == [["isRead": false, "$limit": 0]])
    }

    @Test("of a service without pagination is refused with the reason")
    func unpaginated() async throws {
        let messages = try await messages(3, isPaginated: false)
        var counts = messages.liveCount().makeAsyncIterator()
        let error = await #expect(throws: FeathersError.self) { _ = try await counts.next() }
        #expect(error?.code == .notImplemented && error?.message.contains("no pagination") == true)
    }

    @Test("is 0 when the user leaves, never the former user's")
    func users() async throws {
        let user = Locked("ada")
        let app = FeathersApp(
            transport: StubTransport { _ in
                ["data": [], "limit": 0, "skip": 0, "total": user.withLock { $0 == "ada" ? 7 : 3 }]
            })
        app.setIdentity(Identity("ada"))
        var counts = app.service("messages").liveCount().makeAsyncIterator()
        try await next(&counts, 7)
        user.withLock { $0 = "bob" }
        app.setIdentity(Identity("bob"))
        try await next(&counts, 0)
        try await next(&counts, 3)
    }
}

/// Checks the next count.
func next(
    _ counts: inout some AsyncIteratorProtocol<Int, any Error>, _ expected: Int,
    isolation actor: isolated (any Actor)? = #isolation, at location: SourceLocation = #_sourceLocation
) async throws {
    let count = try await counts.next(isolation: actor)
    #expect(count == expected, sourceLocation: location)
}

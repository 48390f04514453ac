import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("A list around a record", .timeLimit(.minutes(5)))
struct LiveAnchorTests {
    private static func app(_ count: Int, page: Int? = 20) async throws -> FeathersApp {
        let app = FeathersApp()
        // Every value occurs three times, so that only the id tells the order.
        let records = (0..<count).map { ["id": .integer(Int64($0)), "n": .integer(Int64($0 / 3))] as JSONObject }
        try await app.use(
            MemoryService(
                startID: Int64(count), pagination: page.map { Pagination(default: $0, max: $0) }, records: records),
            at: "records")
        return app
    }

    private static func ids(_ snapshot: LiveSnapshot<JSONValue>?) -> [Int64] {
        snapshot?.records.map { $0["id"]?.integer ?? -1 } ?? []
    }

    @Test("shows as many records before it as after it, and grows at both ends", arguments: [nil, 3, 20])
    func bothEnds(page: Int?) async throws {
        let records = try await Self.app(1000, page: page).service("records")
        let query = records.live(.sorted(by: "n")).window(around: 500, of: 6)
        var live = query.snapshots.makeAsyncIterator()
        var snapshot = try await live.next()
        #expect(Self.ids(snapshot) == Array(497..<503))
        #expect(snapshot?.hasMore == true && snapshot?.hasMoreBefore == true)
        #expect(snapshot?.total == (page == nil ? nil : 1000))
        #expect(try await query.loadMore(10, at: .start))
        snapshot = try await live.next()
        #expect(Self.ids(snapshot) == Array(487..<503) && snapshot?.changes.insertions == Array(0..<10))
        #expect(try await query.loadMore(10))
        #expect(Self.ids(try await live.next()) == Array(487..<513))
    }

    @Test("follows records that are created, moved and removed on both sides")
    func changes() async throws {
        let records = try await Self.app(100).service("records")
        let live = records.live(.sorted(by: "n", .descending)).window(around: 50, of: 8)
        // Equal values are sorted by their ids. Each change is made once the one before is shown.
        let steps: [(ids: [Int64], change: @Sendable () async throws -> Void)] = [
            ([52, 53, 48, 49, 50, 45, 46, 47], { try await records.remove(49) }),
            ([51, 52, 53, 48, 50, 45, 46, 47], { try await records.create(["n": 16]) }),
            ([51, 52, 53, 48, 50, 100, 45, 46], { try await records.patch(45, with: ["n": 17]) }),
            // The record itself.
            ([51, 52, 53, 48, 50, 100, 46, 47], { try await records.patch(50, with: ["n": 20]) }),
            ([51, 52, 53, 48, 100, 46, 47, 42], {}),
        ]
        var left = steps[...]
        for try await snapshot in live.snapshots where Self.ids(snapshot) == left.first?.ids {
            try await left.removeFirst().change()
            if left.isEmpty { break }
        }
        #expect(left.isEmpty)
    }

    @Test("begins at the start or the end of the list, where there is nothing before or after")
    func ends() async throws {
        let records = try await Self.app(10).service("records")
        var first = records.live(.sorted(by: "n")).window(around: 0, of: 4).snapshots.makeAsyncIterator()
        var snapshot = try await first.next()
        #expect(Self.ids(snapshot) == [0, 1] && snapshot?.hasMoreBefore == false && snapshot?.hasMore == true)
        var last = records.live(.sorted(by: "n")).window(around: 9, of: 4).snapshots.makeAsyncIterator()
        snapshot = try await last.next()
        #expect(Self.ids(snapshot) == [7, 8, 9] && snapshot?.hasMoreBefore == true && snapshot?.hasMore == false)
    }

    @Test("needs a record that exists, and an order")
    func refused() async throws {
        let records = try await Self.app(10).service("records")
        var missing = records.live(.sorted(by: "n")).window(around: 99, of: 4).snapshots.makeAsyncIterator()
        var error = await #expect(throws: FeathersError.self) { try await missing.next() }
        #expect(error?.code == .notFound)
        var unsorted = records.live().window(around: 1, of: 4).snapshots.makeAsyncIterator()
        error = await #expect(throws: FeathersError.self) { try await unsorted.next() }
        #expect(error?.message.contains("$sort") == true)
    }

    @Test("is emptied when another user signs in, and then shows what that one may see")
    func users() async throws {
        let user = Locked("ada")
        let app = FeathersApp(
            transport: StubTransport { request in
                let name = user.withLock { $0 }
                let records = (0..<9).map {
                    ["id": .integer($0), "n": .integer($0), "for": .string(name)] as JSONObject
                }
                return try await MemoryService(records: records).respond(to: request).result
            })
        app.setIdentity(Identity("ada"))
        let query = app.service("records").live(.sorted(by: "n")).window(around: 4, of: 4)
        var live = query.snapshots.makeAsyncIterator()
        #expect(try await live.next()?.records.allSatisfy { $0["for"] == "ada" } == true)
        user.withLock { $0 = "bob" }
        app.setIdentity(Identity("bob"))
        let emptied = try #require(try await live.next())
        #expect(emptied.isEmpty && emptied.changes.removals == [0, 1, 2, 3])
        var snapshot = emptied
        while snapshot.count < 4 { snapshot = try #require(try await live.next()) }
        #expect(snapshot.records.allSatisfy { $0["for"] == "bob" } && Self.ids(snapshot) == [2, 3, 4, 5])
    }

    @Test("reads the record never for another user, and not from a cache")
    func token() async throws {
        let app = try await Self.app(10)
        var params = Params()
        params.token = "alice"
        let query = app.service("records").live(.sorted(by: "n"), params: params).window(around: 1, of: 4)
        var live = query.snapshots.makeAsyncIterator()
        let refusal = await #expect(throws: FeathersError.self) { try await live.next() }
        #expect(refusal?.execution == .neverSent && refusal?.message.contains("A live query") == true)
    }
}

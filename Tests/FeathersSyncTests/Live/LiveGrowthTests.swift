import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("A list that grows", .timeLimit(.minutes(5)))
struct LiveGrowthTests {
    /// A service of numbered records behind a transport that counts requests.
    private struct Scene: Sendable {
        let app: FeathersApp
        let server: MemoryService
        let queries = Locked<[Query<JSONValue>]>([])
        let isOnline = Locked(true)

        init(_ count: Int, page: Int?, _ record: (Int) -> JSONObject = { ["n": .integer(Int64($0))] }) {
            let records = (0..<count).map { number in
                var record = record(number)
                record["id"] = .integer(Int64(number))
                return record
            }
            let server = MemoryService(
                startID: Int64(count), pagination: page.map { Pagination(default: $0, max: $0) }, records: records)
            self.server = server
            let (queries, isOnline) = (queries, isOnline)
            app = FeathersApp(
                transport: StubTransport { request in
                    guard isOnline.withLock({ $0 }) else {
                        throw FeathersError(.unavailable, "No server", execution: .neverSent)
                    }
                    if request.method == .find { queries.withLock { $0.append(request.params.query) } }
                    return try await server.respond(to: request).result
                })
        }

        var records: Service<JSONValue> { app.service("records") }

        /// The ids of the first records, as the server has them now.
        func ids(_ count: Int) async throws -> [Int64] {
            var ids: [Int64] = []
            while ids.count < count {
                let query = Query<JSONValue>.sorted(by: "n", .descending).skip(ids.count)
                ids += try await server.find(Params(query: query))["data"]?.array?.map { $0["id"]?.integer ?? -1 } ?? []
            }
            return Array(ids.prefix(count))
        }
    }

    private static func ids(_ snapshot: LiveSnapshot<JSONValue>?) -> [Int64] {
        snapshot?.records.map { $0["id"]?.integer ?? -1 } ?? []
    }

    @Test("gets the records after the last one, whatever the size of the server's pages", arguments: [nil, 7, 10, 50])
    func grows(page: Int?) async throws {
        let scene = Scene(35, page: page)
        let query = scene.records.live(.sorted(by: "n", .descending).limit(10))
        var live = query.snapshots.makeAsyncIterator()
        let first = min(10, page ?? 10)
        var snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (35 - Int64(first)..<35).reversed() && snapshot?.hasMore == true)
        #expect(try await query.loadMore())
        snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (35 - 2 * Int64(first)..<35).reversed())
        #expect(snapshot?.changes.removals == [] && snapshot?.changes.insertions == Array(first..<2 * first))
        #expect(try await !query.loadMore(100))
        snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (0..<35).reversed() && snapshot?.hasMore == false)
        #expect(try await !query.loadMore())
        // Only what is missing was asked for, and the record before it. Without totals, the end is looked for once more.
        let requests = scene.queries.withLock { $0.dropFirst().map(\.json) }
        #expect(requests.allSatisfy { $0["n"]?["$lt"] != nil || $0["$skip"] == 34 })
        #expect(requests.count == [nil: 3, 7: 5, 10: 4, 50: 2][page])
    }

    @Test("keeps growing over records that are created, changed and removed meanwhile")
    func changes() async throws {
        let scene = Scene(30, page: 10)
        let query = scene.records.live(.sorted(by: "n", .descending).limit(10))
        var live = query.snapshots.makeAsyncIterator()
        _ = try await live.next()
        try await scene.records.create(["n": 100])
        try await scene.records.remove(29)
        try await scene.records.patch(0, with: ["n": 50])
        try await query.loadMore()
        var snapshot = try await live.next()
        while Self.ids(snapshot).count < 20 { snapshot = try await live.next() }
        #expect(Self.ids(snapshot) == (try await scene.ids(20)))
        // All that is shown is fetched again, page by page.
        scene.queries.withLock { $0 = [] }
        try await query.refresh()
        #expect(scene.queries.withLock { $0.count } == 3)
    }

    @Test("gets the records after the last one by their number if the query does not sort")
    func unsorted() async throws {
        let scene = Scene(30, page: nil)
        let query = scene.records.live(Query().limit(10))
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()) == Array(0..<10))
        #expect(try await query.loadMore())
        #expect(Self.ids(try await live.next()) == Array(0..<20))
        #expect(scene.queries.withLock { $0.map { $0.json["$limit"] } } == [15, 11])
        #expect(scene.queries.withLock { $0.map { $0.json["$skip"] } } == [nil, 14])
    }

    @Test(
        "never sends what the last record has as a structure where a value is sorted",
        arguments: [["$gt": ""], [["$ne": 1]], ["a": "b"]] as [JSONValue])
    func structure(value: JSONValue) async throws {
        let scene = Scene(30, page: nil) { ["n": $0 < 12 ? .integer(Int64($0)) : value] }
        let query = scene.records.live(.sorted(by: "n").limit(14))
        var live = query.snapshots.makeAsyncIterator()
        _ = try await live.next()
        #expect(try await query.loadMore())
        #expect(try await live.next()?.count == 28)
        #expect(scene.queries.withLock { $0.count == 2 && $0.allSatisfy { $0.json["n"] == nil } })
        // Around such a record, the list does not begin.
        var around = scene.records.live(.sorted(by: "n")).window(around: 20, of: 4).snapshots.makeAsyncIterator()
        let error = await #expect(throws: FeathersError.self) { try await around.next() }
        #expect(error?.message.contains("no string, number or Boolean in 'n'") == true)
        #expect(scene.queries.withLock { $0.allSatisfy { $0.json["$or"] == nil } })
    }

    @Test("stays as it was if it is not read, or if the server cannot be reached")
    func refused() async throws {
        let scene = Scene(30, page: 10)
        await #expect(throws: FeathersError.self) { try await scene.records.live(Query()).loadMore() }
        let sorted = scene.records.live(.sorted(by: "n"))
        var other = sorted.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await other.next()) == Array(0..<10))
        scene.isOnline.withLock { $0 = false }
        await #expect(throws: FeathersError.self) { try await sorted.loadMore() }
        await #expect(throws: FeathersError.self) { try await sorted.refresh() }
        scene.isOnline.withLock { $0 = true }
        #expect(try await sorted.loadMore())
        #expect(Self.ids(try await other.next()) == Array(0..<20))
    }

    @Test("reaches records without a value of the sorted property", arguments: [nil, 10])
    func missingValues(page: Int?) async throws {
        let scene = Scene(30, page: page) { $0 < 15 ? ["n": .integer(Int64($0))] : [:] }
        let query = scene.records.live(.sorted(by: "n", .descending).limit(10))
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()) == (5..<15).reversed())
        #expect(try await query.loadMore(5))
        #expect(Self.ids(try await live.next()) == (0..<15).reversed())
        try await query.loadMore(15)
        #expect(Self.ids(try await live.next()) == (0..<15).reversed() + (15..<30))
        #expect(try await !query.loadMore())
    }

    @Test(
        "grows in any order and beyond any page if the query does not sort, or skips", arguments: [Query(), .skip(3)])
    func counted(query: Query<JSONValue>) async throws {
        let scene = Scene(30, page: 10)
        let live = scene.records.live(query)
        var snapshots = live.snapshots.makeAsyncIterator()
        let first = query.isEmpty ? 0 : 3
        #expect(Self.ids(try await snapshots.next()) == (0..<10).map { Int64($0 + first) })
        #expect(try await live.loadMore())
        #expect(try await !live.loadMore())
        var snapshot = try await snapshots.next()
        while snapshot?.hasMore == true { snapshot = try await snapshots.next() }
        #expect(Self.ids(snapshot) == (Int64(first)..<30).map(\.self))
    }

    @Test("grows by several callers at the same time as if by one after the other")
    func concurrently() async throws {
        let scene = Scene(100, page: 50)
        let query = scene.records.live(.sorted(by: "n").limit(10))
        var live = query.snapshots.makeAsyncIterator()
        _ = try await live.next()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { try await query.loadMore() } }
            try await group.waitForAll()
        }
        var snapshot = try await live.next()
        while Self.ids(snapshot).count < 60 { snapshot = try await live.next() }
        #expect(Self.ids(snapshot) == Array(0..<60))
    }
}

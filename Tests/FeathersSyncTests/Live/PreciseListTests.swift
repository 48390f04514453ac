import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

/// A list that has grown to its end has every record that one `find` would give, in its order.
@Suite("A list of times that are more precise on the server", .timeLimit(.minutes(10)))
struct PreciseListTests {
    /// A table of 40 records, half of which an import wrote within the same second. JSON has whole seconds.
    private struct Table: Sendable {
        let app: FeathersApp
        /// Called before each request, with the number of requests before it.
        let beforeRequest = Locked<@Sendable (Int, MemoryService) async throws -> Void>({ _, _ in })

        init(page: Int) {
            let server = MemoryService(
                startID: 100, pagination: Pagination(default: page, max: page),
                records: (1...40).map { number in
                    // The records of the import are not in the order of their ids.
                    let exact = 11...30 ~= number ? 20 + Double(number * 7 % 20) / 64 : Double(number)
                    return ["id": .integer(Int64(number)), "at": .number(exact)]
                })
            let (beforeRequest, count) = (beforeRequest, Locked(0))
            app = FeathersApp(
                transport: StubTransport { request in
                    let number = count.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    try await beforeRequest.withLock { $0 }(number, server)
                    return Self.rounded(try await server.respond(to: request).result)
                })
        }

        private static func rounded(_ result: JSONValue) -> JSONValue {
            guard let data = result["data"]?.array else { return rounded(record: result) }
            return result.setting("data", to: .array(data.map(rounded(record:))))
        }

        private static func rounded(record: JSONValue) -> JSONValue {
            guard let exact = record["at"]?.number else { return record }
            // Not a whole number, because JSON would not tell that from an exact one.
            return record.setting("at", to: .number(exact.rounded(.down) + 1 / 128))
        }

        var records: Service<JSONValue> { app.service("records") }

        /// The ids in the order of the server.
        func ids(_ direction: SortDirection) async throws -> [Int64] {
            try await records.pages(.sorted(by: "at", direction).sorted(by: "id")).records
                .reduce(into: []) { $0.append($1["id"]?.integer ?? -1) }
        }
    }

    private static func ids(_ snapshot: LiveSnapshot<JSONValue>?) -> [Int64] {
        snapshot?.records.map { $0["id"]?.integer ?? -1 } ?? []
    }

    @Test(
        "has every record when it has grown to its end", arguments: [SortDirection.ascending, .descending],
        [3, 10, 100])
    func grows(direction: SortDirection, page: Int) async throws {
        let table = Table(page: page)
        let query = table.records.live(.sorted(by: "at", direction).limit(5))
        var live = query.snapshots.makeAsyncIterator()
        var snapshot = try await live.next()
        while try await query.loadMore() {}
        while snapshot?.hasMore == true { snapshot = try await live.next() }
        #expect(Self.ids(snapshot) == (try await table.ids(direction)) && snapshot?.total == 40)
        try await query.refresh()
        #expect(try await !query.loadMore())
    }

    @Test("has a record that is created between two requests of one fetch")
    func between() async throws {
        let table = Table(page: 10)
        let query = table.records.live(.sorted(by: "at").limit(8))
        var live = query.snapshots.makeAsyncIterator()
        _ = try await live.next()
        while try await query.loadMore() {}
        let first = Locked<Int?>(nil)
        table.beforeRequest.withLock {
            $0 = { number, server in
                let start = first.withLock { first in
                    first = first ?? number
                    return first
                }
                // No event tells of it.
                if number == (start ?? 0) + 2 { _ = try await server.create(["at": 0.5], Params()) }
            }
        }
        try await query.refresh()
        var snapshot = try await live.next()
        while Self.ids(snapshot).first != 100 { snapshot = try await live.next() }
        let ids = try await table.ids(.ascending)
        #expect(Self.ids(snapshot) == Array(ids.prefix(snapshot?.count ?? 0)))
        #expect(snapshot?.total == 41 && snapshot?.hasMore == (snapshot?.count != 41))
    }

    @Test("shows the record around which it begins, also if a queued write puts another one before that")
    func queued() async throws {
        let table = Table(page: 100)
        let outbox = try await Outbox(file: OutboxFolder().file)
        try table.app.use(outbox: outbox)
        let query = table.records.live(.sorted(by: "at", .descending)).window(around: 20, of: 2)
        var live = query.snapshots.makeAsyncIterator()
        var snapshot = try await live.next()
        #expect(Self.ids(snapshot).last == 20)
        for (id, shown) in [(10, [10, 20]), (9, [9, 10, 20])] as [(Int64, [Int64])] {
            try await table.records.outbox.patch(id, with: ["at": .number(20 + 1 / 128)])
            snapshot = try await live.next()
            #expect(Self.ids(snapshot).suffix(shown.count) == shown[...])
        }
        await outbox.close()
    }

    @Test(
        "begins around a record whose value the server rounds, with all records on both sides",
        arguments: [SortDirection.ascending, .descending], [(3, Int64(20)), (10, 20), (100, 20), (10, 11), (10, 5)])
    func around(direction: SortDirection, example: (page: Int, anchor: Int64)) async throws {
        let table = Table(page: example.page)
        let query = table.records.live(.sorted(by: "at", direction)).window(around: example.anchor, of: 6)
        var live = query.snapshots.makeAsyncIterator()
        var snapshot = try await live.next()
        let ids = try await table.ids(direction)
        let shown = Self.ids(snapshot)
        let first = try #require(ids.firstIndex(of: shown.first ?? -1))
        #expect(shown == Array(ids[first...].prefix(shown.count)))
        let index = try #require(shown.firstIndex(of: example.anchor))
        let place = try #require(ids.firstIndex(of: example.anchor))
        // A server with smaller pages sends fewer at first.
        let half = min(3, example.page)
        #expect(index >= min(half, place) && shown.count - index >= min(half, ids.count - place), "\(shown) of \(ids)")
        while try await query.loadMore(at: .start) {}
        while try await query.loadMore(at: .end) {}
        while snapshot?.hasMore == true || snapshot?.hasMoreBefore == true { snapshot = try await live.next() }
        #expect(Self.ids(snapshot) == ids)
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("Reading a list in the order of its versions")
struct ReplicaCursorTests {
    /// Reads all records from a server.
    private func read(_ server: ReplicaServer, from start: String? = nil) async throws -> (
        ids: Set<Int64>, requests: Int
    ) {
        var cursor = ReplicaCursor(
            Query(), version: "updatedAt", id: "id", path: "messages",
            from: start.flatMap { ReplicaVersion(.string($0)) })
        var (ids, requests) = (Set<Int64>(), 0)
        let app = FeathersApp(transport: server.transport)
        try await app.connect()
        while !cursor.isOver {
            let page = try await app.service("messages").find(cursor.next)
            ids.formUnion(page.data.compactMap { $0["id"]?.integer })
            try cursor.received(page, asked: ReplicaCursor.pageSize)
            requests += 1
            try #require(requests < 500)
        }
        await app.disconnect()
        return (ids, requests)
    }

    @Test("finds every record once or more, also of times that JSON rounds", arguments: [1, 3, 7, 400, 900, 5_000])
    func precise(_ step: Int64) async throws {
        for page in [2, 10, 50] {
            let server = ReplicaServer(.forgets, page: page)
            for _ in 0..<200 {
                server.pass(step)
                server.put(nil, ["text": "x"])
            }
            let read = try await read(server)
            #expect(read.ids.count == 200, "pages of \(page), \(read.requests) requests")
        }
    }

    @Test("finds many records of one version by their ids")
    func ties() async throws {
        let server = ReplicaServer(.forgets, page: 10)
        for _ in 0..<35 { server.put(nil, ["text": "x"]) }
        server.state.withLock { state in
            for id in state.records.keys { state.records[id]?["updatedAt"] = .integer(state.now) }
        }
        server.pass(5_000)
        for _ in 0..<5 { server.put(nil, ["text": "y"]) }
        #expect(try await read(server).ids.count == 40)
    }

    @Test("moves dates in the form in which the server writes them")
    func forms() throws {
        let iso = try #require(ReplicaVersion("2026-11-26T10:00:00.000Z"))
        #expect(iso.earlier(by: .seconds(30)).value == "2026-11-26T09:59:30.000Z")
        #expect(iso.included.value == "2026-11-26T09:59:59.999Z")
        let sql = try #require(ReplicaVersion("2026-11-26 10:00:00"))
        #expect(sql.earlier(by: .seconds(1)).value == "2026-11-26 09:59:59.000")
        let count = try #require(ReplicaVersion(41))
        #expect(count.earlier(by: .seconds(30)) == count && count.included == count)
        let milliseconds = try #require(ReplicaVersion(1_790_000_000_000))
        #expect(milliseconds.earlier(by: .seconds(30)).value == 1_789_999_970_000)
        let seconds = try #require(ReplicaVersion(1_790_000_000))
        #expect(seconds.earlier(by: .seconds(30)).value == 1_789_999_970)
        #expect(ReplicaVersion(.null) == nil && ReplicaVersion(1.5) == nil)
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Local queries of a replica", .timeLimit(.minutes(5)))
struct ReplicaSearchTests {
    private static let values: [JSONValue] = [
        1, 2, 2.5, "1", "a", "b", "2026-11-26T10:00:00.000Z", "2026-11-26T12:00:00+02:00", "2026-11-26 10:00:00",
        "2026-11-27T10:00:00.000Z", 1_795_600_800_000, true, false, .null, ["a", 2], [], ["x": 1],
        9_007_199_254_740_993,
    ]
    private static let operators = ["$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$ne"]

    private func condition(_ random: inout SeededGenerator) -> JSONValue {
        let value = Self.values.randomElement(using: &random) ?? 1
        guard Bool.random(using: &random), let name = Self.operators.randomElement(using: &random) else { return value }
        guard name.hasSuffix("in") else { return [name: value] }
        return [name: .array([value, Self.values.randomElement(using: &random) ?? 2])]
    }

    @Test("find what the matcher finds, whatever the indexes are", arguments: [[], ["a"], ["b", "a", "updatedAt"]])
    func conditions(_ indexes: [String]) async throws {
        let scene = try ReplicaScene()
        var random = SeededGenerator(seed: 5)
        for _ in 0..<300 {
            var record: JSONObject = ["text": "x"]
            for name in ["a", "b"] where Int.random(in: 0..<8, using: &random) > 0 {
                record[name] = Self.values.randomElement(using: &random)
            }
            scene.server.put(nil, record)
        }
        try await scene.run { app in
            let replica = try await app.replicate(
                app.service("messages"), version: "updatedAt", removals: .softDelete("deletedAt"), indexes: indexes)
            await replica.upToDate()
            scene.server.forgetRequests()
            let all = scene.server.all()
            var judged = 0
            for _ in 0..<150 {
                var query: Query<JSONValue> = ["a": condition(&random)]
                if Bool.random(using: &random) { query.json["b"] = condition(&random) }
                if Bool.random(using: &random) { query = query.sorted(by: "updatedAt", .descending) }
                let before = scene.server.requests.count
                let found = try await replica.find(query.sorted(by: "id")).compactMap { $0["id"]?.integer }
                // What only the server knows, it is asked.
                guard scene.server.requests.count == before else { continue }
                judged += 1
                let matcher = try QueryMatcher(query)
                #expect(Set(found) == Set(all.filter { matcher.judges($0) == true }.compactMap { $0["id"]?.integer }))
            }
            #expect(judged > 75)
        }
    }

    @Test(
        "have the order of the server, and no more than a limit",
        arguments: [[], ["updatedAt"], ["room", "updatedAt"]])
    func order(_ indexes: [String]) async throws {
        let scene = try ReplicaScene()
        scene.fill(900)
        try await scene.run { app in
            let replica = try await app.replicate(
                app.service("messages"), version: "updatedAt", removals: .softDelete("deletedAt"), indexes: indexes)
            await replica.upToDate()
            scene.server.forgetRequests()
            for direction in [SortDirection.ascending, .descending] {
                for (limit, skip) in [(5, 0), (50, 20), (700, 0)] {
                    let query = Query<JSONValue>().where("room", "b").sorted(by: "updatedAt", direction)
                    let found = try await replica.find(query.limit(limit).skip(skip)).map { $0["id"] }
                    let all = scene.server.all(query).map { $0["id"] }
                    #expect(found == Array(all.dropFirst(skip).prefix(limit)))
                }
            }
            #expect(scene.server.requests.isEmpty)
            let count = try await replica.liveCount(["room": "c"]).first { _ in true }
            #expect(count == 300)
        }
    }

    @Test("serve relations and lists that grow without a request")
    func lists() async throws {
        let scene = try ReplicaScene()
        scene.fill(200)
        try await scene.run { app in
            let replica = try await scene.replica(app)
            await replica.upToDate()
            scene.server.forgetRequests()
            let live = scene.messages(app).live(.where(.room, "a").sorted(by: .updatedAt, .descending).limit(10))
            var snapshots = live.snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.records.count == 10)
            try await live.loadMore()
            #expect(try await snapshots.next()?.records.count == 20)
            #expect(scene.server.requests.isEmpty)
            let stored = try await scene.messages(app).stored.get(9, policy: .storedOnly)
            #expect(stored.value.text == "m9" && stored.source != .stored(since: .distantPast))
        }
    }
}

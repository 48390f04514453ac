import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCaching

@Suite("Cache keys")
struct CacheKeyTests {
    /// The key of a call.
    private func key(_ change: (inout ServiceRequest) -> Void = { _ in }) async throws -> CacheKey? {
        var request = ServiceRequest(path: "users/:userId/messages", method: .get, id: 1)
        request.params = Params(query: ["a": 1], route: ["userId": "7"])
        change(&request)
        return CacheKey(of: request, group: "g", partitions: ["n", "ada", "work"])
    }

    @Test("A key says all its answer depends on, the same in every process")
    func golden() async throws {
        let key = try await key {
            $0.params.headers = ["ACCEPT-language": "de", "X-Request-ID": "1", "traceparent": "00"]
        }
        #expect(
            key?.text
                == #"""
                [["n","ada","work"],"get","users/:userId/messages",1,{"userId":"7"},{"a":1},\#
                {"accept-language":"\#(SHA256.hex("de".utf8))"}]
                """#
        )
        #expect(key?.group == "g")
    }

    @Test("Neither the order of conditions counts nor that of header fields")
    func order() async throws {
        let one = try await key {
            $0.params.query = Query(["b": ["$gt": 1, "$lt": 2], "a": 1, "$or": [["x": 1, "y": 2]]])
            $0.params.headers = ["Accept-Language": "de", "Cookie": "c"]
        }
        let other = try await key {
            $0.params.query = Query(["$or": [["y": 2, "x": 1]], "a": 1, "b": ["$lt": 2, "$gt": 1]])
            $0.params.headers = ["cookie": "c", "accept-language": "de"]
        }
        #expect(one == other)
    }

    @Test(
        "What means something else has another key",
        arguments: [
            { $0.params.query = Query(["a": "1"]) }, { $0.params.query = Query(["a": [1, 2]]) },
            { $0.params.query = Query(["a": [2, 1]]) },
            { $0.params.query = Query(["$sort": ["x": 1, "y": 1]]) },
            { $0.params.query = Query(["$sort": ["y": 1, "x": 1]]) },
            { $0.params.query = Query(["a": "\u{E9}"]) }, { $0.params.query = Query(["a": "e\u{301}"]) },
            { $0.id = "1" }, { $0.id = 2 }, { $0.id = nil }, { $0.params.route = ["userId": "8"] },
            { $0.params.headers = ["Accept-Language": "de"] }, { $0.params.headers = ["Authorization": "a"] },
            { $0.params.headers = ["Authorization": "b"] }, { $0.params.headers = ["Cookie": "a"] },
            { $0.params.headers = ["X-Api-Key": "a"] }, { $0.params.headers = ["X-Api-Key": "b"] },
        ] as [@Sendable (inout ServiceRequest) -> Void])
    func different(_ change: @escaping @Sendable (inout ServiceRequest) -> Void) async throws {
        let changed = try #require(try await key(change))
        let plain = try await key()
        #expect(changed != plain)
        Self.seen.withLock { seen in
            #expect(!seen.contains(changed), "\(changed.text)")
            seen.append(changed)
        }
    }

    private static let seen = Locked<[CacheKey]>([])

    @Test("The values of header fields stand in no key")
    func secrets() async throws {
        let text = try #require(
            try await key {
                $0.params.headers = ["Authorization": "Bearer s3cret", "cookie": "s3cret", "X-Api-Key": "s3cret"]
            }
        ).text
        #expect(!text.contains("s3cret"))
    }

    @Test("A query that JSON cannot express has no key, and is asked for every time")
    func noKey() async throws {
        #expect(try await key { $0.params.query = Query(["a": .number(.nan)]) } == nil)
        let cached = CachedApp(policy: .cacheFirstNetworkAlways)
        cached.server.set(["new"])
        #expect(try await cached.messages.find(Query(["a": .number(.nan)])).data == ["new"])
        #expect(
            try await cached.messages.cached.find(Query(["a": .number(.nan)])).first().source == .network(updated: true)
        )
        #expect(cached.transport.requests.count == 2)
    }
}

import FeathersCore
import FeathersTesting
import Testing

@testable import FeathersCaching

@Suite("Cache policies", .timeLimit(.minutes(10)))
struct CachePolicyTests {
    /// An app whose cache is in the row's state and whose server has a newer answer, or none.
    private func prepared(_ row: PolicyTable.Row, _ storage: TestedStorage) async throws -> CachedApp {
        let cached = CachedApp(storage)
        if row.state != .nothing {
            cached.server.set("old")
            _ = try await cached.messages.get(1)
        }
        if row.state == .expired { cached.pass(seconds: 11) }
        cached.server.set(row.network == .answers ? "new" : nil)
        return cached
    }

    private func word(_ error: any Error) -> String {
        switch error {
        case FeathersError.Code.notInCache: "miss"
        case FeathersError.Code.unavailable: "failure"
        default: "\(error)"
        }
    }

    private func check(_ result: CachedResult<JSONValue>) -> String {
        #expect(result.value == (result.source == .network(updated: true) ? "new" : "old"))
        return switch result.source {
        case .cache(isExpired: false): "cached"
        case .cache(isExpired: true): "expired"
        case .network(updated: true): "network"
        case .network(updated: false): "network, not updated"
        }
    }

    @Test("A stream gives the row's sequence", arguments: PolicyTable.rows, TestedStorage.allCases)
    func stream(_ row: PolicyTable.Row, _ storage: TestedStorage) async throws {
        let cached = try await prepared(row, storage)
        let before = cached.transport.requests.count
        var sequence: [String] = []
        do {
            for try await result in cached.messages.cached.get(1, policy: row.policy) { sequence.append(check(result)) }
        } catch {
            sequence.append(word(error))
        }
        #expect(sequence == row.sequence.filter { $0 != "(refresh)" })
        #expect(cached.transport.requests.count - before == row.requests)
        #expect(await cached.kept()?.value.string ?? "-" == row.kept)
    }

    @Test(
        "A plain call gives the last value of the row's sequence", arguments: PolicyTable.rows, TestedStorage.allCases)
    func plain(_ row: PolicyTable.Row, _ storage: TestedStorage) async throws {
        let cached = try await prepared(row, storage)
        let expected = row.sequence.last { $0 != "(refresh)" }
        do {
            let value = try await cached.messages.get(1, params: .caching(row.policy))
            #expect(value == (expected == "network" ? "new" : "old"))
        } catch {
            #expect(word(error) == expected)
        }
    }

    @Test("A network's value is not updated where it equals the cached one that was given before")
    func updated() async throws {
        let cached = CachedApp()
        cached.server.set(["a": 1, "b": [1, 2]])
        _ = try await cached.messages.get(1)
        cached.server.set(["b": [1, 2], "a": 1])
        var sources: [CacheSource] = []
        for try await result in cached.messages.cached.get(1, policy: .cacheFirstNetworkAlways) {
            sources.append(result.source)
        }
        #expect(sources == [.cache(isExpired: false), .network(updated: false)])
        cached.server.set(["a": 1, "b": [1]])
        // A list that grew or shrank has changed, however equal its beginning is.
        #expect(
            try await cached.messages.cached.get(1, policy: .cacheFirstNetworkAlways).last().source
                == .network(updated: true))
        // Nothing was given before, so nothing was compared.
        #expect(
            try await cached.messages.cached.get(1, policy: .networkOnlyUpdateCache).last().source
                == .network(updated: true))
    }

    @Test("The first value is had without what would follow")
    func first() async throws {
        let cached = CachedApp()
        _ = try await cached.messages.get(1)
        let result = try await cached.messages.cached.get(1, policy: .cacheFirstNetworkAlways).first()
        #expect(result.source == .cache(isExpired: false))
        #expect(cached.transport.requests.count == 1)
    }

    @Test("Without what is expired, an expired answer is a miss and gone", arguments: TestedStorage.allCases)
    func dropsExpired(_ storage: TestedStorage) async throws {
        let cached = CachedApp(storage) { $0.keepsExpired = false }
        cached.server.set("old")
        _ = try await cached.messages.get(1)
        cached.pass(seconds: 11)
        cached.server.set(nil)
        await #expect { try await cached.messages.get(1, params: .caching(.networkFirstCacheIfFailed)) } throws: {
            word($0) == "failure"
        }
        cached.pass(seconds: -11)
        #expect(await cached.kept() == nil)
    }

    @Test("A cancelled call is cancelled, whatever the cache has")
    func cancelled() async throws {
        let cached = CachedApp()
        _ = try await cached.messages.get(1)
        let service = cached.messages
        cached.app.use(hooks: Hooks(before: [{ _ in throw CancellationError() }]))
        await #expect(throws: CancellationError.self) {
            try await service.get(1, params: .caching(.networkFirstCacheIfFailed))
        }
    }

    @Test("Any other failure has the cache answer, a refusal too")
    func anyFailure() async throws {
        let cached = CachedApp()
        _ = try await cached.messages.get(1)
        cached.transport.stub("messages", with: .error(FeathersError(.forbidden, "no")))
        #expect(try await cached.messages.get(1, params: .caching(.networkFirstCacheIfFailed)) == "new")
    }

    @Test("A call counts before its service, and that before the cache")
    func precedence() async throws {
        let cached = CachedApp(policy: .cacheOnly)
        await #expect { try await cached.messages.get(1) } throws: { word($0) == "miss" }
        cached.cache["/messages/"] = ServiceCacheOptions(
            policy: .networkOnlyUpdateCache, expiration: .after(.seconds(20)))
        #expect(try await cached.messages.get(1) == "new")
        cached.server.set("newer")
        #expect(try await cached.messages.get(1, params: .caching(.cacheOnly)) == "new")
        #expect(try await cached.messages.cached.get(1, policy: .cacheOnly).first().value == "new")
        // The service's expiration, then the call's.
        cached.pass(seconds: 15)
        #expect(await cached.kept()?.source == .cache(isExpired: false))
        _ = try await cached.messages.get(1, params: .caching(.networkOnlyUpdateCache, expiration: .after(.seconds(1))))
        cached.pass(seconds: 2)
        #expect(await cached.kept()?.source == .cache(isExpired: true))
        _ = try await cached.messages.get(1, params: .caching(.networkOnlyUpdateCache, expiration: .never))
        cached.pass(seconds: 1e9)
        #expect(await cached.kept()?.source == .cache(isExpired: false))
    }

    @Test("Lists are cached as records are, each query for itself")
    func lists() async throws {
        let cached = CachedApp(policy: .cacheFirstNetworkIfNotFoundOrExpired)
        cached.server.set([["id": 1]])
        _ = try await cached.messages.find(.where("a", 1))
        cached.server.set([])
        #expect(try await cached.messages.find(.where("a", 1)).data == [["id": 1]])
        #expect(try await cached.messages.find(.where("a", 2)).data == [])
        #expect(cached.transport.requests.count == 2)
    }
}

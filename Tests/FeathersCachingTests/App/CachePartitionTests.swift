import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCaching

@Suite("Users and the cache", .timeLimit(.minutes(10)))
struct CachePartitionTests {
    @Test("Each user has answers of their own, and nobody has the last one's", arguments: TestedStorage.allCases)
    func separate(_ storage: TestedStorage) async throws {
        let cached = CachedApp(storage, policy: .cacheFirstNetworkIfNotFoundOrExpired)
        cached.app.setCachePartition("ada")
        cached.server.set("of ada")
        _ = try await cached.messages.get(1)
        cached.app.setCachePartition("")
        #expect(await cached.kept() == nil)
        cached.server.set("of nobody")
        #expect(try await cached.messages.get(1) == "of nobody")
        cached.app.setCachePartition("grace")
        #expect(await cached.kept() == nil)
        cached.server.set(nil)
        await #expect(throws: FeathersError.self) { try await cached.messages.get(1, params: .caching(.networkFirstCacheIfFailed)) }
        cached.app.setCachePartition("ada")
        #expect(try await cached.messages.get(1) == "of ada")
    }

    @Test("A change by one user empties the group for all")
    func changes() async throws {
        let cached = CachedApp()
        for user in ["ada", "grace"] {
            cached.app.setCachePartition(user)
            _ = try await cached.messages.get(1)
        }
        try await cached.messages.patch(1, with: [:])
        cached.app.setCachePartition("ada")
        #expect(await cached.kept() == nil)
    }

    @Test("What one user asked for is not kept once another, or nobody, is there", arguments: [["grace"], [""], ["", "ada"]])
    func inFlight(_ changes: [String]) async throws {
        let clock = ManualClock()
        let cached = CachedApp(
            transport: StubTransport { _ in
                try await clock.sleep(for: .seconds(1))
                return "of somebody"
            })
        cached.app.setCachePartition("ada")
        async let value = cached.messages.get(1)
        try await clock.waitForSleepers(1)
        for name in changes { cached.app.setCachePartition(name) }
        clock.advance(by: .seconds(1))
        _ = try await value
        for name in ["ada", "grace", ""] {
            cached.app.setCachePartition(name)
            #expect(await cached.kept() == nil)
        }
    }

    @Test("A read after a log-in does not join one from before it, even of the same user")
    func joining() async throws {
        let clock = ManualClock()
        let cached = CachedApp(
            transport: StubTransport { _ in
                try await clock.sleep(for: .seconds(1))
                return "of somebody"
            })
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            cached.app.setCachePartition("ada")
            group.addTask { try await cached.messages.get(1) }
            try await clock.waitForSleepers(1)
            cached.app.setCachePartition("ada")
            group.addTask { try await cached.messages.get(1) }
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(cached.transport.requests.count == 2)
    }

    @Test("A stream begun by one user shows the next one nothing of the cache")
    func stream() async throws {
        let cached = CachedApp()
        cached.app.setCachePartition("ada")
        cached.server.set("old")
        _ = try await cached.messages.get(1)
        var results = cached.messages.cached.get(1, policy: .cacheFirstNetworkAlways).makeAsyncIterator()
        #expect(try await results.next()?.value == "old")
        cached.app.setCachePartition("grace")
        cached.server.set("of grace")
        #expect(try await results.next()?.value == "of grace")
        #expect(await cached.kept() == nil)
        cached.app.setCachePartition("ada")
        #expect(await cached.kept()?.value == "old")
    }

    @Test("An app may tell users apart by itself")
    func own() async throws {
        let tenant = Locked("a")
        let cached = CachedApp { $0.partition = { _ in tenant.withLock { $0 } } }
        _ = try await cached.messages.get(1)
        tenant.withLock { $0 = "b" }
        #expect(await cached.kept() == nil)
        tenant.withLock { $0 = "a" }
        #expect(await cached.kept() != nil)
    }

    @Test("Credentials in a call's headers tell users apart too")
    func headers() async throws {
        let cached = CachedApp(policy: .cacheFirstNetworkIfNotFoundOrExpired)
        cached.server.set("of ada")
        _ = try await cached.messages.get(1, params: Params(headers: ["Authorization": "Bearer ada"]))
        cached.server.set("of grace")
        #expect(try await cached.messages.get(1, params: Params(headers: ["authorization": "Bearer grace"])) == "of grace")
        #expect(try await cached.messages.get(1, params: Params(headers: ["authorization": "Bearer ada"])) == "of ada")
    }
}

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
        cached.app.setIdentity(Identity("ada"))
        cached.server.set("of ada")
        _ = try await cached.messages.get(1)
        cached.app.setIdentity(nil)
        #expect(await cached.kept() == nil)
        cached.server.set("of nobody")
        #expect(try await cached.messages.get(1) == "of nobody")
        cached.app.setIdentity(Identity("grace"))
        #expect(await cached.kept() == nil)
        cached.server.set(nil)
        await #expect(throws: FeathersError.self) {
            try await cached.messages.get(1, params: .caching(.networkFirstCacheIfFailed))
        }
        cached.app.setIdentity(Identity("ada"))
        #expect(try await cached.messages.get(1) == "of ada")
    }

    @Test("A change by one user empties the group for all")
    func changes() async throws {
        let cached = CachedApp()
        for user in ["ada", "grace"] {
            cached.app.setIdentity(Identity(user))
            _ = try await cached.messages.get(1)
        }
        try await cached.messages.patch(1, with: [:])
        cached.app.setIdentity(Identity("ada"))
        #expect(await cached.kept() == nil)
    }

    @Test(
        "What one user asked for is neither shown nor kept once another user, or none, is signed in",
        arguments: [["grace"], [nil], [nil, "ada"]] as [[String?]])
    func inFlight(_ changes: [String?]) async throws {
        let clock = ManualClock()
        let cached = CachedApp(
            transport: StubTransport { _ in
                try await clock.sleep(for: .seconds(1))
                return "of somebody"
            })
        cached.app.setIdentity(Identity("ada"))
        let value = Task { try await cached.messages.get(1) }
        try await clock.waitForSleepers(1)
        for name in changes { cached.app.setIdentity(name.map(Identity.init)) }
        clock.advance(by: .seconds(1))
        await #expect { _ = try await value.value } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        for name in ["ada", "grace", nil] {
            cached.app.setIdentity(name.map(Identity.init))
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
            cached.app.setIdentity(Identity("ada"))
            group.addTask { (try? await cached.messages.get(1)) ?? "none" }
            try await clock.waitForSleepers(1)
            cached.app.setIdentity(Identity("ada"))
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
        cached.app.setIdentity(Identity("ada"))
        cached.server.set("old")
        _ = try await cached.messages.get(1)
        var results = cached.messages.cached.get(1, policy: .cacheFirstNetworkAlways).makeAsyncIterator()
        #expect(try await results.next()?.value == "old")
        cached.app.setIdentity(Identity("grace"))
        cached.server.set("of grace")
        await #expect(throws: FeathersError.self) { try await results.next() }
        #expect(await cached.kept() == nil)
        cached.app.setIdentity(Identity("ada"))
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
        #expect(
            try await cached.messages.get(1, params: Params(headers: ["authorization": "Bearer grace"])) == "of grace")
        #expect(try await cached.messages.get(1, params: Params(headers: ["authorization": "Bearer ada"])) == "of ada")
    }
}

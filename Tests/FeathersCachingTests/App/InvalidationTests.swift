import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCaching

@Suite("Invalidation", .timeLimit(.minutes(10)))
struct InvalidationTests {
    /// A call that changes records.
    struct Change: Sendable, CustomStringConvertible {
        let description: String
        var answer: JSONValue = "new"
        let make: @Sendable (Service<JSONValue>) async throws -> Void
    }

    static let changes = [
        Change(description: "create") { try await $0.create([:]) },
        Change(description: "update") { try await $0.update(1, with: [:]) },
        Change(description: "patch") { try await $0.patch(1, with: [:]) },
        Change(description: "patch of several", answer: ["new"]) { try await $0.patchAll(query: ["a": 1], with: [:]) },
        Change(description: "remove") { try await $0.remove(1) },
        Change(description: "a custom method that changes") { try await $0.call("archive") },
    ]

    private func prepared(_ storage: TestedStorage = .memory) async throws -> CachedApp {
        let cached = CachedApp(storage) { $0.changingMethods = ["archive"] }
        _ = try await cached.messages.get(1)
        _ = try await cached.app.service("users").get(1)
        return cached
    }

    @Test(
        "A change that succeeded empties its service's group and no other", arguments: changes, TestedStorage.allCases)
    func success(_ change: Change, _ storage: TestedStorage) async throws {
        let cached = try await prepared(storage)
        cached.server.set(change.answer)
        try await change.make(cached.messages)
        #expect(await cached.kept() == nil)
        #expect(try await cached.app.service("users").get(1, params: .caching(.cacheOnly)) == "new")
        _ = try await cached.messages.get(1)
        #expect(await cached.kept() != nil)
    }

    @Test("A change that failed empties nothing", arguments: changes)
    func failure(_ change: Change) async throws {
        let cached = try await prepared()
        cached.server.set(nil)
        await #expect(throws: FeathersError.self) { try await change.make(cached.messages) }
        #expect(await cached.kept() != nil)
    }

    @Test("A change that may have been executed empties its group")
    func uncertain() async throws {
        let transport = StubTransport { request in
            if request.method == .get { return "new" }
            throw FeathersError(.timeout, "Too late", execution: .mayHaveExecuted)
        }
        let cached = CachedApp(transport: transport)
        _ = try await cached.messages.get(1)
        await #expect(throws: FeathersError.self) { try await cached.messages.patch(1, with: [:]) }
        #expect(await cached.kept() == nil)
    }

    @Test("A custom method empties nothing unless it is said to change records")
    func customMethod() async throws {
        let cached = try await prepared()
        try await cached.messages.call("count")
        #expect(await cached.kept() != nil)
    }

    @Test("Services in one group are emptied together")
    func groups() async throws {
        let cached = CachedApp()
        for path in ["messages", "users"] { cached.cache[path] = ServiceCacheOptions(group: "chat") }
        _ = try await cached.messages.get(1)
        try await cached.app.service("users").create([:])
        #expect(await cached.kept() == nil)
    }

    @Test("What was in flight when a change ended is not kept")
    func inFlight() async throws {
        let clock = ManualClock()
        let cached = CachedApp(
            transport: StubTransport { request in
                if request.method == .get { try await clock.sleep(for: .seconds(1)) }
                return "old"
            })
        async let value = cached.messages.get(1)
        try await clock.waitForSleepers(1)
        try await cached.messages.patch(1, with: [:])
        clock.advance(by: .seconds(1))
        #expect(try await value == "old")
        #expect(await cached.kept() == nil)
    }

    @Test("A write that was under way when a change ended is not read, though it lands behind the removal")
    func lateWrite() async throws {
        let storage = SlowStorage()
        let cached = CachedApp(storage, in: TemporaryDirectory())
        async let value = cached.messages.get(1)
        try await storage.clock.waitForSleepers(1)
        try await cached.messages.patch(1, with: [:])
        // Still on its way: nothing may be read.
        #expect(await cached.kept() == nil)
        storage.clock.advance(by: .seconds(1))
        _ = try await value
        #expect(storage.memory.count == 1)
        #expect(await cached.kept() == nil)
        #expect(storage.memory.count == 0)
    }

    @Test("A removal that fails is tried again before anything is read, and heard of")
    func failedRemoval() async throws {
        let storage = FailingRemovals()
        let cached = CachedApp(storage, in: TemporaryDirectory())
        _ = try await cached.messages.get(1)
        storage.fails.withLock { $0 = true }
        try await cached.messages.patch(1, with: [:])
        #expect(await cached.kept() == nil)
        #expect(cached.failures.withLock { $0.count } == 2)
        storage.fails.withLock { $0 = false }
        #expect(await cached.kept() == nil)
        _ = try await cached.messages.get(1)
        #expect(await cached.kept() != nil)
    }

    @Test("While a removal that failed is still to follow, nothing is stored for it to delete")
    func pendingRemoval() async throws {
        let storage = FailingRemovals()
        let cached = CachedApp(storage, in: TemporaryDirectory())
        storage.fails.withLock { $0 = true }
        await cached.cache.invalidate(group: "messages")
        #expect(try await cached.messages.get(1) == "new")
        #expect(storage.memory.count == 0)
        storage.fails.withLock { $0 = false }
        _ = try await cached.messages.get(1)
        #expect(await cached.kept() != nil)
    }

    @Test("A storage that fails is a cache without answers, not an app without")
    func broken() async throws {
        let cached = CachedApp(BrokenStorage(), in: TemporaryDirectory(), .cacheFirstNetworkAlways)
        #expect(try await cached.messages.get(1) == "new")
        #expect(try await cached.messages.patch(1, with: [:]) == "new")
        #expect(try await cached.messages.get(1) == "new")
        #expect(cached.failures.withLock { $0.count } > 0)
    }

    @Test("Everything goes with everything, and what is old with what is old")
    func byHand() async throws {
        let cached = try await prepared()
        await cached.cache.invalidateAll()
        #expect(await cached.kept() == nil)
        _ = try await cached.messages.get(1)
        try await cached.cache.removeExpired()
        #expect(await cached.kept() != nil)
        cached.pass(seconds: 11)
        try await cached.cache.removeExpired()
        #expect(await cached.kept() == nil)
    }
}

/// Keeps an answer a second later than it is asked to.
private final class SlowStorage: CacheStorage {
    let memory = MemoryCacheStorage()
    let clock = ManualClock()

    func entry(for key: CacheKey) async throws -> CacheEntry? { try await memory.entry(for: key) }
    func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await clock.sleep(for: .seconds(1))
        try await memory.set(entry, for: key)
    }
    func remove(_ key: CacheKey) async throws { try await memory.remove(key) }
    func remove(group: String) async throws { try await memory.remove(group: group) }
    func removeExpired(olderThan date: Date) async throws {}
    func removeAll() async throws { try await memory.removeAll() }
}

/// Removes nothing for as long as it is told to fail.
private final class FailingRemovals: CacheStorage {
    let memory = MemoryCacheStorage()
    let fails = Locked(false)

    func entry(for key: CacheKey) async throws -> CacheEntry? { try await memory.entry(for: key) }
    func set(_ entry: CacheEntry, for key: CacheKey) async throws { try await memory.set(entry, for: key) }
    func remove(_ key: CacheKey) async throws { try await memory.remove(key) }
    func remove(group: String) async throws {
        if fails.withLock({ $0 }) { throw FeathersError(.generalError, "disk full") }
        try await memory.remove(group: group)
    }
    func removeExpired(olderThan date: Date) async throws {}
    func removeAll() async throws {}
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCaching

@Suite("Refreshing in the background", .timeLimit(.minutes(10)))
struct RefreshTests {
    private let storage: NotedStorage
    private let cached: CachedApp

    /// An app whose answer is old.
    init() async throws {
        storage = NotedStorage()
        cached = CachedApp(storage, in: TemporaryDirectory(), .cacheFirstNetworkRefresh)
        cached.server.set("old")
        _ = try await cached.messages.get(1)
        await storage.waitFor("set")
        cached.server.set("new")
    }

    /// Runs the app and, once the background work listens, the body.
    private func run(_ body: () async throws -> Void) async throws {
        // What the background work begins with: its removal shows that it has begun.
        cached.app.service("users").emit(.created, [:])
        try await withFeathersApp(cached.app) { _ in
            await storage.waitFor("remove users")
            try await body()
        }
    }

    @Test("In an app that runs, a plain call returns the cached value, and the cache gets the new one")
    func plain() async throws {
        try await run {
            let value = try await cached.messages.get(1)
            #expect(value == "old")
            await storage.waitFor("set")
        }
        #expect(await cached.kept()?.value == "new")
        #expect(cached.failures.withLock { $0 }.isEmpty)
    }

    @Test("In an app that runs, a stream ends with the cached value, and the cache gets the new one")
    func stream() async throws {
        try await run {
            let value = try await cached.messages.cached.get(1).last().value
            #expect(value == "old")
            await storage.waitFor("set")
        }
        #expect(await cached.kept()?.value == "new")
    }

    @Test("A failed refresh changes nothing and is heard of")
    func failure() async throws {
        cached.server.set(nil)
        try await run {
            let value = try await cached.messages.get(1)
            #expect(value == "old")
            try await cached.transport.waitForRequest(number: 2)
        }
        #expect(await cached.kept()?.value == "old")
    }

    @Test("In an app that does not run, a plain call is not refreshed, which is heard of; a stream refreshes by itself")
    func notRunning() async throws {
        #expect(try await cached.messages.get(1) == "old")
        #expect(cached.transport.requests.count == 1)
        #expect(cached.failures.withLock { $0.first?.contains("cannot be refreshed: the app is not running") } == true)
        #expect(try await cached.messages.cached.get(1).last().value == "old")
        #expect(await cached.kept()?.value == "new")
    }

    @Test("A refresh begun for one user is not made for the next")
    func user() async throws {
        var results = cached.messages.cached.get(1).makeAsyncIterator()
        #expect(try await results.next()?.value == "old")
        cached.app.setIdentity(Identity("grace"))
        #expect(try await results.next() == nil)
        #expect(cached.transport.requests.count == 1)
    }

    @Test("One refresh of an answer at a time is enough")
    func once() async throws {
        let clock = ManualClock()
        cached.transport.stub("messages", with: ServiceStub.value("new").delayed(by: .seconds(1), on: clock))
        try await run {
            for _ in 0..<5 { #expect(try await cached.messages.get(1) == "old") }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            await storage.waitFor("set")
        }
        #expect(cached.transport.requests.count == 2)
    }
}

/// A memory that notes what is kept and removed.
private final class NotedStorage: CacheStorage {
    private let memory = MemoryCacheStorage()
    private let notes: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (notes, continuation) = AsyncStream.makeStream(of: String.self)
    }

    func waitFor(_ note: String) async {
        for await noted in notes where noted == note { return }
    }

    func entry(for key: CacheKey) async throws -> CacheEntry? { try await memory.entry(for: key) }

    func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await memory.set(entry, for: key)
        continuation.yield("set")
    }

    func remove(_ key: CacheKey) async throws { try await memory.remove(key) }

    func remove(group: String) async throws {
        try await memory.remove(group: group)
        continuation.yield("remove \(group)")
    }

    func removeExpired(olderThan date: Date) async throws {}
    func removeAll() async throws { try await memory.removeAll() }
}

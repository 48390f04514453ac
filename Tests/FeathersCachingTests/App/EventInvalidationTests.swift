import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCaching

@Suite("Invalidation by events", .timeLimit(.minutes(10)))
struct EventInvalidationTests {
    /// A connection whose events the test makes.
    private final class PushingTransport: RealTimeTransport {
        private let sink = Locked<EventSink?>(nil)

        func deliver(to sink: EventSink) { self.sink.withLock { $0 = sink } }
        func push(_ name: EventName, at path: String) {
            sink.withLock { $0 }?.receive(ServiceEvent(path: path, name: name, data: [:]))
        }
        func pushGap() { sink.withLock { $0 }?.receiveGap(.reconnected) }

        func send(_ request: ServiceRequest) async throws -> ServiceResponse { ServiceResponse("new") }
        func use(connectionSetup setup: ConnectionSetup) {}
        func run() async throws {}
        func connect() async throws {}
        func disconnect() async {}
        var status: ConnectionStatus { .offline }
        func statusUpdates() -> AsyncStream<ConnectionStatus> { AsyncStream { $0.finish() } }
    }

    private let transport = PushingTransport()
    private let storage = MemoryCacheStorage()

    private func app(policy: CachePolicy = .networkOnlyUpdateCache) -> FeathersApp {
        let app = FeathersApp(transport: transport)
        app.use(cache: ServiceCache(storage, policy: policy))
        return app
    }

    private func isKept(_ app: FeathersApp, _ path: String = "messages") async -> Bool {
        (try? await app.service(path).get(1, params: .caching(.cacheOnly))) != nil
    }

    @Test(
        "A record's event empties its service's group at once, though nobody subscribes", arguments: EventName.standard)
    func standard(_ name: EventName) async throws {
        let app = app()
        for path in ["messages", "users"] { _ = try await app.service(path).get(1) }
        transport.push(name, at: "messages")
        #expect(await isKept(app) == false)
        #expect(await isKept(app, "users"))
        #expect(storage.count == 1)
    }

    @Test("An event counts for what an earlier process kept, of a service nobody has asked for yet")
    func earlierProcess() async throws {
        _ = try await app().service("messages").get(1)
        let later = app()
        transport.push(.patched, at: "messages")
        #expect(await isKept(later) == false)
    }

    @Test("A subscriber that reads on an event never gets what it has made old")
    func subscriber() async throws {
        let app = app(policy: .cacheFirstNetworkIfNotFoundOrExpired)
        let messages = app.service("messages")
        let events = messages.events(.patched)
        _ = try await messages.get(1)
        transport.push(.patched, at: "messages")
        _ = try await events.first()
        #expect(try await messages.cached.get(1).first().source == .network(updated: true))
    }

    @Test("An event of another name empties nothing")
    func custom() async throws {
        let app = app()
        _ = try await app.service("messages").get(1)
        transport.push("typing", at: "messages")
        #expect(await isKept(app))
    }

    @Test("What a service emits of itself counts as well")
    func emitted() async throws {
        let app = app()
        _ = try await app.service("messages").get(1)
        app.service("messages").emit(.patched, [:])
        #expect(await isKept(app) == false)
    }

    @Test("A gap empties everything")
    func gap() async throws {
        let app = app()
        for path in ["messages", "users"] { _ = try await app.service(path).get(1) }
        transport.pushGap()
        #expect(await isKept(app) == false)
        #expect(await isKept(app, "users") == false)
        #expect(storage.count == 0)
        _ = try await app.service("messages").get(1)
        #expect(await isKept(app))
    }

    @Test("What is read after an event stays, though what the event made old is removed later")
    func readBeforeRemoval() async throws {
        let app = app()
        for isGap in [false, true] {
            if isGap { transport.pushGap() } else { transport.push(.patched, at: "messages") }
            _ = try await app.service("messages").get(1)
            #expect(await isKept(app))
        }
    }

    @Test("While the app runs, what events made old, before and since, is removed without a read")
    func background() async throws {
        let (removed, continuation) = AsyncStream.makeStream(of: String.self)
        let app = FeathersApp(transport: transport)
        app.use(cache: ServiceCache(NotedRemovals(noted: continuation)))
        transport.push(.created, at: "messages")
        try await withFeathersApp(app) { _ in
            var groups = removed.makeAsyncIterator()
            #expect(await groups.next() == "messages")
            transport.push(.created, at: "users")
            // Where the event comes before the first removal is noted, that one is made again.
            var next = await groups.next()
            while next == "messages" { next = await groups.next() }
            #expect(next == "users")
        }
    }
}

/// Keeps nothing and tells which groups are removed.
private struct NotedRemovals: CacheStorage {
    let noted: AsyncStream<String>.Continuation

    func entry(for key: CacheKey) async throws -> CacheEntry? { nil }
    func set(_ entry: CacheEntry, for key: CacheKey) async throws {}
    func remove(_ key: CacheKey) async throws {}
    func remove(group: String) async throws { noted.yield(group) }
    func removeExpired(olderThan date: Date) async throws {}
    func removeAll() async throws {}
}

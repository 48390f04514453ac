import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCaching

@Suite("Cached services", .timeLimit(.minutes(10)))
struct CachedServiceTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    @Test("The values of a service with a model are its models, with where they come from")
    func models() async throws {
        let cached = CachedApp()
        let messages = cached.app.service("messages", of: Message.self)
        cached.server.set(["id": 1, "text": "Hi"])
        var sources: [CacheSource] = []
        for _ in 0..<2 {
            for try await result in messages.cached.get(1, policy: .cacheFirstNetworkAlways) {
                #expect(result.value == Message(id: 1, text: "Hi"))
                sources.append(result.source)
            }
        }
        #expect(sources == [.network(updated: true), .cache(isExpired: false), .network(updated: false)])

        cached.server.set(["total": 1, "limit": 10, "skip": 0, "data": [["id": 1, "text": "Hi"]]])
        let page = try await messages.cached.find(.limit(10)).last()
        #expect((page.value.data, page.value.total) == ([Message(id: 1, text: "Hi")], 1))
        #expect(page.source == .network(updated: true))
    }

    @Test("A read with page sizes of its own goes past the cache")
    func pageSizes() async throws {
        let cached = CachedApp(policy: .cacheFirstNetworkIfNotFoundOrExpired)
        cached.server.set(["new"])
        var params = Params()
        params.pagination = .off
        for _ in 0..<2 { _ = try await cached.messages.find(params: params) }
        #expect(cached.transport.requests.count == 2)
        #expect(try await cached.messages.find().data == ["new"])
        #expect(cached.transport.requests.count == 3)
    }

    @Test("An app without a cache asks the network, once")
    func withoutCache() async throws {
        let transport = StubTransport { _ in "new" }
        let messages = FeathersApp(transport: transport).service("messages")
        var sources: [CacheSource] = []
        for try await result in messages.cached.get(1, policy: .cacheFirstNetworkAlways) {
            sources.append(result.source)
        }
        #expect(sources == [.network(updated: true)])
        #expect(transport.requests.count == 1)
    }

    @Test("Hooks run for every value, whenever they were added")
    func hooks() async throws {
        let calls = Locked<[String]>([])
        func note(_ name: String) -> Hooks {
            Hooks(around: [
                { context, next in
                    try await next(&context)
                    calls.withLock { $0.append("\(name) \(context.result?.string ?? "?")") }
                }
            ])
        }
        let app = FeathersApp(transport: StubTransport { _ in "new" })
        app.use(hooks: note("outside"))
        app.use(cache: ServiceCache(policy: .cacheFirstNetworkAlways))
        await app.service("messages").use(hooks: note("inside"))
        _ = try await app.service("messages").get(1)
        for try await _ in app.service("messages").cached.get(1) {}
        #expect(
            calls.withLock { $0 } == [
                "inside new", "outside new", "inside new", "outside new", "inside new", "outside new",
            ])
    }

    @Test("What hooks inside make of a result is what is kept, and is made once")
    func transformed() async throws {
        let cached = CachedApp(policy: .cacheFirstNetworkIfNotFoundOrExpired)
        await cached.messages.use(
            hooks: Hooks(after: [{ context in context.result = .string("<\(context.result?.string ?? "")>") }]))
        for _ in 0..<2 { #expect(try await cached.messages.get(1) == "<new>") }
        #expect(cached.transport.requests.count == 1)
    }

    @Test("A hook that hands its params on hands on neither stream nor conditions")
    func handedOn() async throws {
        let cached = CachedApp()
        await cached.messages.use(
            hooks: Hooks(before: [
                { context in _ = try await context.app.service("users").get(2, params: context.params) }
            ]))
        var sources: [CacheSource] = []
        for try await result in cached.messages.cached.get(1, policy: .cacheFirstNetworkAlways) {
            sources.append(result.source)
        }
        #expect(sources == [.network(updated: true)])
        #expect(cached.transport.requests.map(\.path) == ["users", "messages"])
    }

    @Test("A reader that stops has started nothing that goes on")
    func lazy() async throws {
        let cached = CachedApp()
        _ = cached.messages.cached.get(1)
        #expect(cached.transport.requests.isEmpty)
    }

    @Test("A cached failure is told once; the stream is over")
    func failed() async throws {
        let cached = CachedApp()
        var results = cached.messages.cached.get(1, policy: .cacheOnly).makeAsyncIterator()
        await #expect { try await results.next() } throws: { error in
            let error = error as? FeathersError
            return error?.name == "NotInCache" && error?.execution == .neverSent
                && error?.message.contains("'get' on service 'messages'") == true
        }
        #expect(try await results.next() == nil)
    }

    @Test("Neither a cache nor its background work keeps an app alive")
    func released() async throws {
        weak var app: FeathersApp?
        do {
            let cached = CachedApp(policy: .cacheFirstNetworkRefresh)
            app = cached.app
            try await withFeathersApp(cached.app) { app in
                for _ in 0..<2 { _ = try await app.service("messages").get(1) }
            }
            _ = try await cached.messages.cached.get(1).last()
        }
        #expect(app == nil)
    }
}

import Feathers
import FeathersJSONAPI
import Foundation

/// A single operation repeated many times, for a profiler:
///
///     Benchmarks/.build/release/Benchmarks --serve http
///     valgrind --tool=callgrind Benchmarks/.build/release/Benchmarks --profile rest 1000 http://127.0.0.1:PORT
///
/// The server (`http`, `socket` for calls and events over Socket.IO, or `stream` for FeathersJS 6) prints its port, and
/// serves until its input ends. Start it separately, because valgrind cannot. To exclude fixed costs, subtract a run of
/// N operations from a run of 2 N.
enum Profile: String, CaseIterable {
    case reading, parsing, serializing, querying
    case rest, socketio, socketioTyped, inFlight, events, eventsTyped, eventsOneByOne, live, memory, readers, atOnce,
        decoding
    case noHooks, threeHooks, hooks
    case typed, jsonapi, idle, idleSockets, callsOverMany, items, firstItem, streamEvents, sourceEvents
    case eventsPaced, streamEventsPaced
    case diskHit, memoryHit, miss, missOnDisk, recordsShort, recordsLong, created
    case opening, queuedHidden, queued, queuedMoved, listShort, listLong, movedShort, movedLong

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Repeats the operation. Operations that make requests require a server.
    func run(times: Int, server: URL?) async throws {
        switch self {
        case .rest:
            let service = FeathersApp(transport: .rest(try url(of: server))).service("messages")
            for _ in 0..<times { _ = try await service.get(1) }
        case .socketio:
            let service = try await connected(to: server).service("messages")
            for _ in 0..<times { _ = try await service.get(1) }
        case .socketioTyped:
            let service = try await connected(to: server).service("messages", of: LoopbackSocketServer.Message.self)
            for _ in 0..<times { _ = try await service.get(1) }
        case .inFlight:
            let service = try await connected(to: server).service("messages")
            try await concurrently(64, each: times / 64) { _ = try await service.get(1) }
        case .eventsTyped:
            let app = try await connected(to: server)
            let service = app.service("messages", of: LoopbackSocketServer.Message.self)
            var iterator = service.events(.created, bufferingNewest: times).makeAsyncIterator()
            _ = try await app.service("burst").create(.integer(Int64(times)))
            for _ in 0..<times { _ = await iterator.next() }
        case .eventsOneByOne:
            // A call for each event, so that every event wakes its reader. Subtract the calls of `socketio`.
            let app = try await connected(to: server)
            let (burst, events) = (app.service("burst"), app.service("messages").events(.created))
            async let read: Void = { for await _ in events.prefix(times) {} }()
            for _ in 0..<times { _ = try await burst.create(1) }
            await read
        case .events, .eventsPaced: try await readEvents(times, from: server)
        case .noHooks, .threeHooks:
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            let hook: Hook = { _ in }
            if self == .threeHooks { await service.use(hooks: Hooks(before: [hook], after: [hook], error: [hook])) }
            for _ in 0..<times { _ = try await service.get(1) }
        case .hooks:
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            let hook: Hook = { _ in }
            await service.use(
                hooks: Hooks(around: [{ context, next in try await next(&context) }], before: [hook], after: [hook]))
            for _ in 0..<times { _ = try await service.get(1) }
        case .live:
            let service = try await FeathersApp().use(MemoryService(records: Growth.records(1_000)), at: "messages")
            var results = service.live(.sorted(by: "id")).makeAsyncIterator()
            _ = try await results.next()
            for number in 0..<times {
                try await service.patch(5, with: ["n": .integer(Int64(number + 1_000))])
                _ = try await results.next()
            }
        case .memory:
            let service = try await FeathersApp().use(
                MemoryService(multi: .all, records: Growth.records(times)), at: "messages")
            for number in 0..<times { _ = try await service.get(number * 7919 % times) }
            try await service.patchAll(query: Query(), with: ["n": 1])
        // Short services have 100 records, long ones 100,000.
        case .recordsShort, .recordsLong:
            let count = self == .recordsShort ? 100 : 100_000
            let service = try await FeathersApp().use(MemoryService(records: Growth.records(count)), at: "messages")
            for number in 0..<times { _ = try await service.get(number * 7 % count) }
        case .created:
            let service = try await FeathersApp().use(MemoryService(), at: "messages")
            for _ in 0..<times { try await service.create(["text": "Hello", "n": 1]) }
        case .diskHit: try await readCached(times, in: DiskCacheStorage(directory: CachingBenchmarks.directory))
        case .memoryHit: try await readCached(times, in: MemoryCacheStorage())
        case .miss, .missOnDisk:
            let cache =
                self == .miss
                ? ServiceCache(policy: .networkOnlyNoCache)
                : ServiceCache(
                    DiskCacheStorage(directory: CachingBenchmarks.directory), policy: .networkOnlyUpdateCache)
            let service = try await CachingBenchmarks.service(with: cache)
            for number in 0..<times { _ = try await service.get(number % 100) }
        case .readers:
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            let readers = (0..<times).map { _ in service.events(.created) }
            withExtendedLifetime(readers) {}
        case .atOnce:
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            try await concurrently(times, each: 1) { _ = try await service.get(1) }
        case .typed:
            let service = try ModelBenchmarks.messages()
            for _ in 0..<times { _ = try await service.find() }
        case .jsonapi:
            let bytes = try JSONAPIBenchmarks.sample()
            for _ in 0..<times { _ = try JSONAPICodec().decodeList(JSONAPIBenchmarks.Article.self, parsing: bytes) }
        case .idle:
            // Under heaptrack, the peak is what idle connections hold.
            let idle = try await IdleConnections<FeathersApp>.open(times, to: try url(of: server))
            print(idle)
            await idle.close()
        case .callsOverMany:
            // Subtract `idle`, which opens as many connections and makes no calls.
            let idle = try await IdleConnections<FeathersApp>.open(times, to: try url(of: server))
            try await idle.call(times: 10_000)
            await idle.close()
        case .idleSockets:
            print(try await IdleConnections<any WebSocketConnection>.open(times, to: try url(of: server)))
        case .items:
            let tokens = FeathersApp(transport: .feathers6(try url(of: server))).service("tokens")
            for try await _ in tokens.stream(.find, query: ["count": .integer(Int64(times))]) {}
        case .firstItem:
            let tokens = FeathersApp(transport: .feathers6(try url(of: server))).service("tokens")
            for _ in 0..<times { for try await _ in tokens.stream(.find, query: ["count": 1]) {} }
        case .streamEvents, .streamEventsPaced:
            let query: Query<JSONValue> = [
                "count": .integer(Int64(times)), "pattern": self == .streamEvents ? "burst" : "paced",
            ]
            let app = FeathersApp(transport: .feathers6(try url(of: server)) { $0.query = query })
            let events = app.service("messages").events(.created, bufferingNewest: times)
            try await withFeathersApp(app) { _ in for await _ in events.prefix(times) {} }
        case .sourceEvents:
            let app = FeathersApp(transport: .rest(try url(of: server)))
            var iterator = app.eventSource("sse", as: JSONValue.self, query: ["count": .integer(Int64(times))])
                .makeAsyncIterator()
            for _ in 0..<times { _ = try await iterator.next() }
        case .opening: try await LocalBenchmarks.open(times: times)
        case .queuedHidden: try await LocalBenchmarks.queue(["isRead": true], isShown: false, times: times)
        case .queued: try await LocalBenchmarks.queue(["isRead": true], times: times)
        case .queuedMoved: try await LocalBenchmarks.queue(["likes": 0], times: times)
        // Short lists have 1,000 records, long ones 100,000.
        case .listShort: try await LiveGrowth.change(["likes": 5], in: 1_000, times: times)
        case .listLong: try await LiveGrowth.change(["likes": 5], in: 100_000, times: times)
        case .movedShort: try await LiveGrowth.change(["rank": 0.5], in: 1_000, times: times)
        case .movedLong: try await LiveGrowth.change(["rank": 0.5], in: 100_000, times: times)
        case .reading:
            let service = try ModelBenchmarks.messages()
            await service.use(hooks: Hooks(after: [{ context in if context.result == nil { context.result = .null } }]))
            for _ in 0..<times { _ = try await service.find() }
        case .parsing:
            let text = try JSONBenchmarks.pageOfTen()
            for _ in 0..<times { _ = try JSONValue(parsing: text) }
        case .serializing:
            let page = try JSONValue(parsing: JSONBenchmarks.pageOfTen())
            for _ in 0..<times { _ = try page.serialized() }
        case .querying:
            for _ in 0..<times {
                _ = Query.where("room", "general").where("age", .greaterThan(18)).sorted(by: "createdAt").limit(10)
            }
        case .decoding:
            let text = try JSONBenchmarks.pageOfTen()
            for _ in 0..<times { _ = try CodingOptions().decode(JSONBenchmarks.Page.self, parsing: text) }
        }
    }

    private func readCached(_ times: Int, in storage: some CacheStorage) async throws {
        guard let url = URL(string: "http://localhost") else { throw URLError(.badURL) }
        let body = Array(#"{"id":1,"text":"Hello","author":"Ada","likes":3,"tags":["a","b"]}"#.utf8)
        let app = FeathersApp(transport: .rest(url, httpClient: ModelBenchmarks.InstantClient(body: body)))
        app.use(cache: ServiceCache(storage, policy: .cacheFirstNetworkIfNotFoundOrExpired))
        let service = app.service("messages")
        for _ in 0..<times { _ = try await service.get(1) }
    }

    private func readEvents(_ count: Int, from server: URL?) async throws {
        let pattern = self == .eventsPaced ? LoopbackSocketServer.EventPattern.paced : .burst
        let app = try await connected(to: server)
        let events = app.service("messages").events(.created, bufferingNewest: count)
        async let sent = app.service(pattern.rawValue).create(.integer(Int64(count)))
        for await _ in events.prefix(count) {}
        _ = try await sent
    }

    private func url(of server: URL?) throws(ArgumentError) -> URL {
        guard let server else { throw ArgumentError("'--profile \(rawValue) N' needs the server's URL after it") }
        return server
    }

    private func connected(to server: URL?) async throws -> FeathersApp {
        let app = FeathersApp(transport: .socketIO(try url(of: server)) { $0.transports = [.webSocket] })
        try await app.connect()
        return app
    }
}

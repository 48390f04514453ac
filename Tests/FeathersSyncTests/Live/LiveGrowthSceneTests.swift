import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Lists that grow, with what else an app does.
@Suite("A list that grows in an app", .timeLimit(.minutes(5)))
struct LiveGrowthSceneTests {
    /// A server of numbered records, whose next responses can be held back.
    private final class Scene: Sendable {
        let server: MemoryService
        let requests = Locked<[Query<JSONValue>]>([])
        /// What the next request waits for, after it has told that it arrived.
        let hold = Locked<(arrived: Promise<Void>, released: Promise<Void>)?>(nil)
        let isOnline = Locked(true)

        init(_ count: Int, page: Int? = nil) {
            let records = (0..<count).map { number in
                ["id": .integer(Int64(number)), "n": .integer(Int64(number)), "text": .string("\(number)")]
                    as JSONObject
            }
            server = MemoryService(
                startID: Int64(count), pagination: page.map { Pagination(default: $0, max: $0) }, records: records)
        }

        func respond(_ request: ServiceRequest) async throws -> JSONValue {
            guard isOnline.withLock(\.self) else {
                throw FeathersError(.unavailable, "No server", execution: .neverSent)
            }
            if request.method == .find { requests.withLock { $0.append(request.params.query) } }
            let held = hold.withLock { hold in
                defer { hold = nil }
                return hold
            }
            if let held {
                held.arrived.resolve(())
                try await held.released.value()
            }
            return try await server.respond(to: request).result
        }

        /// Holds the next response back.
        func holdNext() -> (arrived: Promise<Void>, released: Promise<Void>) {
            let held = (arrived: Promise<Void>(), released: Promise<Void>())
            hold.withLock { $0 = held }
            return held
        }

        func app() -> FeathersApp { FeathersApp(transport: StubTransport { try await self.respond($0) }) }
    }

    private static func ids(_ snapshot: LiveSnapshot<JSONValue>?) -> [Int64] {
        snapshot?.records.map { $0["id"]?.integer ?? -1 } ?? []
    }

    private static let newest = Query<JSONValue>.sorted(by: "n", .descending).limit(10)

    @Test("reopens offline with all rows that were loaded, grows by stored ones at once, and by others once online")
    func offline() async throws {
        let (scene, folder) = (Scene(60), try OutboxFolder())
        func app() async throws -> FeathersApp {
            let app = scene.app()
            var local = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
            local.responseDelay = .seconds(3600)
            try await app.use(localStore: local)
            return app
        }
        let first = try await app()
        try await withFeathersApp(first) { app in
            let query = app.service("records").live(Self.newest)
            var live = query.snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
            try await query.loadMore(15)
            while Self.ids(try await live.next()).count < 25 {}
        }
        await first.outbox?.close()

        scene.isOnline.withLock { $0 = false }
        let second = try await app()
        let query = second.service("records").live(Self.newest)
        var live = query.snapshots.makeAsyncIterator()
        var snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (35..<60).reversed() && snapshot?.hasMore == true)
        try await second.service("records").outbox.remove(59)
        try await second.service("records").outbox.create(["n": 100])
        while snapshot?.first?.state != .pending { snapshot = try await live.next() }
        #expect(Array(Self.ids(snapshot).dropFirst()) == (35..<59).reversed())
        // All that is stored, however often it is called.
        for _ in 0..<3 { #expect(try await query.loadMore(20)) }
        snapshot = try await live.next()
        #expect(Array(Self.ids(snapshot).dropFirst()) == (30..<59).reversed() && snapshot?.source != .server)
        scene.isOnline.withLock { $0 = true }
        try await query.refresh()
        while snapshot?.source != .server { snapshot = try await live.next() }
        #expect(Array(Self.ids(snapshot).dropFirst()) == (15..<59).reversed() && snapshot?.hasMore == true)
        await second.outbox?.close()
    }

    @Test("ends its growth when another user signs in meanwhile, and shows nothing of the previous one's")
    func nextUser() async throws {
        let scene = Scene(30, page: 10)
        let app = scene.app()
        app.setIdentity(Identity("ada"))
        let query = app.service("records").live(Self.newest)
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()).count == 10)
        let held = scene.holdNext()
        let growth = Task { try await query.loadMore() }
        try await held.arrived.value()
        app.setIdentity(nil)
        app.setIdentity(Identity("bob"))
        held.released.resolve(())
        await #expect { try await growth.value } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        let emptied = try await live.next()
        #expect(emptied?.isEmpty == true && emptied?.hasMore == false)
        // The next user's list has not grown.
        var snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (20..<30).reversed())
        #expect(try await query.loadMore())
        snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (10..<30).reversed())
    }

    @Test("fetches the selected properties, and those by which it sorts")
    func selection() async throws {
        let scene = Scene(30, page: 10)
        let query = scene.app().service("records").live(Self.newest.selecting("text"))
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()).count == 10)
        #expect(try await query.loadMore())
        let snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (10..<30).reversed())
        #expect(snapshot?.records.last == ["id": 10, "text": "10"])
        #expect(snapshot?.changes.insertions == Array(10..<20) && snapshot?.changes.updates == [])
    }

    @Test("grows with records that an after hook has shaped")
    func hooks() async throws {
        let scene = Scene(30)
        let app = scene.app()
        let records = app.service("records")
        await records.use(
            hooks: Hooks(after: [
                "find": [
                    { context in
                        let records = context.result?.array ?? []
                        context.result = .array(records.map { $0.setting("text", to: .string("shaped")) })
                    }
                ]
            ]))
        let query = records.live(Self.newest)
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()).count == 10)
        #expect(try await query.loadMore())
        let snapshot = try await live.next()
        #expect(Self.ids(snapshot) == (10..<30).reversed())
        #expect(snapshot?.records.allSatisfy { $0["text"] == "shaped" } == true)
    }

    @Test("stays as it was when the caller is cancelled, and grows with the next call")
    func cancellation() async throws {
        let scene = Scene(30, page: 10)
        let query = scene.app().service("records").live(Self.newest)
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()).count == 10)
        let held = scene.holdNext()
        let growth = Task { try await query.loadMore() }
        // Waits for the first one, and is cancelled before it.
        try await held.arrived.value()
        let waiting = Task { try await query.loadMore() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        growth.cancel()
        await #expect(throws: CancellationError.self) { try await growth.value }
        #expect(try await query.loadMore(5))
        #expect(Self.ids(try await live.next()) == (15..<30).reversed())
    }

    @Test("has what changed while the connection was lost during its growth", arguments: [false, true])
    func gap(isAnswered: Bool) async throws {
        let scene = Scene(40)
        let transport = StubRealTimeTransport(passingThrough: StubTransport { try await scene.respond($0) })
        let app = FeathersApp(transport: transport)
        try await app.connect()
        let query = app.service("records").live(Self.newest)
        var live = query.snapshots.makeAsyncIterator()
        #expect(Self.ids(try await live.next()).count == 10)
        let held = scene.holdNext()
        let growth = Task { try await query.loadMore() }
        try await held.arrived.value()
        if isAnswered {
            // Events are missed, as after an overflow, but the response arrives.
            _ = try await scene.server.remove(ServiceID(32), Params())
            app.pushedEventsMissed()
            held.released.resolve(())
            #expect(try await growth.value)
        } else {
            transport.drop()
            await #expect { try await growth.value } throws: { FeathersError.Code.unavailable ~= $0 }
            _ = try await scene.server.remove(ServiceID(32), Params())
            transport.restore()
        }
        let wanted = (0..<40).reversed().filter { $0 != 32 }.map { Int64($0) }
        let count = isAnswered ? 20 : 10
        var snapshot = try await live.next()
        while Self.ids(snapshot) != Array(wanted.prefix(count)) { snapshot = try await live.next() }
        #expect(try await query.loadMore(20 - count + 5))
        while Self.ids(snapshot) != Array(wanted.prefix(25)) { snapshot = try await live.next() }
        await app.disconnect()
    }

    @Test("asks for at most what the result has", arguments: [Int.max, 1 << 40])
    func most(count: Int) async throws {
        let scene = Scene(100, page: 40)
        let query = scene.app().service("messages").live(Self.newest)
        var live = query.snapshots.makeAsyncIterator()
        #expect(try await live.next()?.count == 10)
        async let hasMore = query.loadMore(count)
        _ = try await live.next { $0.count == 100 }
        #expect(try await !hasMore)
        let limits = scene.requests.withLock { $0.compactMap { $0.json["$limit"]?.integer } }
        #expect(limits.allSatisfy { $0 <= 100 + 25 }, "\(limits)")
        for count in [0, -1, Int.min] {
            let error = await #expect(throws: FeathersError.self) { try await query.loadMore(count) }
            #expect(error?.code == .badRequest && error?.execution == .neverSent)
        }
    }
}

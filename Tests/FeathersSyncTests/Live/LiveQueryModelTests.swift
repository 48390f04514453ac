import FeathersCore
import FeathersSupport
import FeathersSync
import FeathersTesting
import Testing

@Suite("A model of a live query", .timeLimit(.minutes(5)))
@MainActor
struct LiveQueryModelTests {
    /// A server whose next response can be held back.
    private struct Scene: Sendable {
        let app: FeathersApp
        let server: MemoryService
        let transport: StubTransport
        /// What the next request waits for, after it has told that it arrived.
        let hold = Locked<(arrived: Promise<Void>, released: Promise<Void>)?>(nil)
        let isOnline = Locked(true)

        init() {
            let records = (0..<30).map { number in
                let text = JSONValue.string(number % 2 == 0 ? "even" : "odd")
                return ["id": .integer(Int64(number)), "n": .integer(Int64(number)), "text": text] as JSONObject
            }
            let server = MemoryService(startID: 30, pagination: Pagination(default: 10, max: 10), records: records)
            self.server = server
            let (hold, isOnline) = (hold, isOnline)
            transport = StubTransport { request in
                guard isOnline.withLock(\.self) else {
                    throw FeathersError(.unavailable, "No server", execution: .neverSent)
                }
                let held = hold.withLock { hold in
                    defer { hold = nil }
                    return hold
                }
                held?.arrived.resolve(())
                try await held?.released.value()
                return try await server.respond(to: request).result
            }
            app = FeathersApp(transport: transport)
        }

        func live(_ text: JSONValue? = nil, limit: Int = 4) -> LiveQuery<JSONValue> {
            let query = Query<JSONValue>.sorted(by: "n").limit(limit)
            return app.service("records").live(text.map { query.where("text", $0) } ?? query)
        }

        /// Holds the next response back.
        func holdNext() -> (arrived: Promise<Void>, released: Promise<Void>) {
            let held = (arrived: Promise<Void>(), released: Promise<Void>())
            hold.withLock { $0 = held }
            return held
        }
    }

    private func ids(_ model: LiveQueryModel<JSONValue>) -> [Int64] { model.records.map { $0["id"]?.integer ?? -1 } }

    /// Runs a model while a function uses it.
    private func running(_ model: LiveQueryModel<JSONValue>, _ body: () async throws -> Void) async throws {
        let running = Task { await model.run() }
        try await model.wait { $0.isLoaded }
        try await body()
        running.cancel()
        await running.value
    }

    @Test("grows, says whether more follows, and loads once at a time")
    func grows() async throws {
        let scene = Scene()
        let model = LiveQueryModel(scene.live("even"))
        await model.loadMore()
        #expect(!model.hasMore && model.loadError == nil && !model.isLoadingMore)
        try await running(model) {
            #expect(model.hasMore && ids(model) == [0, 2, 4, 6])
            let held = scene.holdNext()
            async let growth: Void = model.loadMore()
            try await held.arrived.value()
            #expect(model.isLoadingMore)
            await model.loadMore(20)
            held.released.resolve(())
            await growth
            #expect(!model.isLoadingMore && model.loadError == nil)
            try await model.wait { $0.records.count == 8 }
            await model.loadMore(20)
            try await model.wait { $0.records.count == 15 }
            #expect(!model.hasMore)
            await model.loadMore()
            #expect(model.loadError == nil)
        }
    }

    @Test("tells why records could not be loaded, and goes on")
    func fails() async throws {
        let scene = Scene()
        let model = LiveQueryModel(scene.live())
        try await running(model) {
            scene.isOnline.withLock { $0 = false }
            await model.loadMore()
            #expect(model.loadError.map { FeathersError.Code.unavailable ~= $0 } == true)
            #expect(!model.isLoadingMore && model.error == nil && model.hasMore)
            scene.isOnline.withLock { $0 = true }
            await model.loadMore()
            #expect(model.loadError == nil)
            try await model.wait { $0.records.count == 8 }
            scene.isOnline.withLock { $0 = false }
            await model.refresh()
            #expect(model.loadError.map { FeathersError.Code.unavailable ~= $0 } == true)
            scene.isOnline.withLock { $0 = true }
            // No event reports it.
            _ = try await scene.server.remove(0, Params())
            await model.refresh()
            #expect(model.loadError == nil)
            try await model.wait { ids($0).first == 1 }
        }
    }

    @Test("says nothing of a load whose caller was cancelled")
    func cancellation() async throws {
        let scene = Scene()
        let model = LiveQueryModel(scene.live())
        try await running(model) {
            let held = scene.holdNext()
            let growth = Task { await model.loadMore() }
            try await held.arrived.value()
            growth.cancel()
            await growth.value
            #expect(!model.isLoadingMore && model.loadError == nil && model.hasMore && model.records.count == 4)
            await model.loadMore()
            try await model.wait { $0.records.count == 8 }
        }
    }

    @Test("shows another query without flicker, while it runs")
    func another() async throws {
        let scene = Scene()
        let model = LiveQueryModel(scene.live("even"))
        try await running(model) {
            let growth = scene.holdNext()
            async let loading: Void = model.loadMore()
            try await growth.arrived.value()
            let held = scene.holdNext()
            model.show(scene.live("odd"))
            #expect(!model.isLoaded && !model.hasMore && !model.isLoadingMore)
            await loading
            try await held.arrived.value()
            #expect(ids(model).starts(with: [0, 2, 4, 6]) && model.loadError == nil)
            // Replaced before it has a result.
            let last = scene.holdNext()
            model.show(scene.live("odd", limit: 2))
            try await last.arrived.value()
            #expect(ids(model).starts(with: [0, 2, 4, 6]))
            last.released.resolve(())
            try await model.wait { $0.isLoaded }
            #expect(ids(model) == [1, 3] && model.hasMore)
            await model.loadMore()
            try await model.wait { $0.records.count == 4 }
            #expect(ids(model) == [1, 3, 5, 7])
        }
        model.show(scene.live("even"))
        #expect(ids(model) == [1, 3, 5, 7] && !model.isLoaded)
        try await running(model) { #expect(ids(model) == [0, 2, 4, 6]) }
    }

    @Test("ends with the error of the query that it shows, and runs again with another")
    func invalid() async throws {
        let scene = Scene()
        let model = LiveQueryModel(scene.live())
        let running = Task { await model.run() }
        try await model.wait { $0.isLoaded }
        model.show(scene.app.service("records").live(["$limit": -1]))
        await running.value
        #expect(model.error != nil && !model.isLoaded && model.records.count == 4)
        model.show(scene.live("odd"))
        #expect(model.error == nil)
        try await self.running(model) { #expect(ids(model) == [1, 3, 5, 7]) }
    }

    @Test("shows nothing of the previous user's before the first result of another query")
    func nextUser() async throws {
        let scene = Scene()
        scene.app.setIdentity(Identity("ada"))
        let model = LiveQueryModel(scene.live("even"))
        try await running(model) {
            let growth = scene.holdNext()
            async let loading: Void = model.loadMore()
            try await growth.arrived.value()
            let held = scene.holdNext()
            model.show(scene.live("odd"))
            try await held.arrived.value()
            #expect(ids(model).starts(with: [0, 2, 4, 6]))
            let bobs = scene.holdNext()
            scene.app.setIdentity(Identity("bob"))
            try await model.wait { $0.records.isEmpty && $0.rows.isEmpty && $0.source == nil }
            await loading
            #expect(model.loadError == nil && !model.isLoadingMore && !model.isLoaded)
            bobs.released.resolve(())
            try await model.wait { $0.isLoaded && !$0.records.isEmpty }
            #expect(ids(model) == [1, 3, 5, 7])
            let next = scene.holdNext()
            async let more: Void = model.loadMore()
            try await next.arrived.value()
            scene.app.setIdentity(nil)
            await more
            #expect(model.loadError == nil && !model.isLoadingMore)
        }
    }
}

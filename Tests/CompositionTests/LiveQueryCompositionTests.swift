import Feathers
import Foundation
import Testing

@testable import FeathersTesting

/// Live queries beside a cache, sign-ins, and two transports.
@Suite(.timeLimit(.minutes(10))) struct LiveQueryCompositionTests {
    @Test(arguments: Way.allCases)
    func `A live query shows the records of the signed-in user only`(way: Way) async throws {
        let server = ModelServer()
        server.change("notes", .create, ["text": "his"], as: "bob")
        let model = try server.app(over: way)
        try await model.connected { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            let probe = LiveProbe(app, "notes", Query(), IdentityLog(app))
            try await probe.wait { $0.map { $0["text"] } == ["hers"] }
            try await app.logOut()
            try await probe.wait(until: \.isEmpty)
            try await app.signIn("bob")
            try await probe.wait { $0.map { $0["text"] } == ["his"] }
            try await app.signIn("alice")
            try await probe.wait { $0.map { $0["text"] } == ["hers"] }
            await probe.stop()
            #expect(probe.state.current.violations == [])
        }
    }

    @Test(arguments: Way.allCases)
    func `While the server is away, a live query opens from disk for the stored user, and shows queued writes`(
        way: Way
    ) async throws {
        let server = ModelServer()
        let (folder, storage) = (try TemporaryFolder(), InMemoryTokenStorage())
        let store = LocalStore.directory(folder.url.appending(path: "store"))
        let first = try server.app(over: way, storage: storage)
        try await first.app.use(localStore: store)
        try await first.connected { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            for try await snapshot in app.notes.live().snapshots where snapshot.source == .server { break }
        }
        await first.app.outbox?.close()
        // A clock that stands, so that no timeout of the sign-in can pass.
        let second = try server.app(over: way, storage: storage, clock: ManualClock())
        try await second.app.use(localStore: store)
        server.setAway(true, second)
        try await withFeathersApp(second.app) { app in
            var snapshots = app.notes.live().snapshots.makeAsyncIterator()
            let kept = try #require(await snapshots.next())
            #expect(
                kept.records.map { $0["text"] } == ["hers"] && kept.source != .server && app.identity?.name == "alice")
            try await app.notes.outbox.create(["text": "in a tunnel"])
            let next = try #require(await snapshots.next())
            #expect(
                next.records.map { $0["text"] } == ["hers", "in a tunnel"]
                    && next.map(\.state) == [.confirmed, .pending])
        }
        await second.app.outbox?.close()
    }

    @Test func `A live query fetched for the next user shows no event of the last one`() async throws {
        let (transport, clock, fetches) = (StubRealTimeTransport(pushesEvents: false), ManualClock(), Counter())
        let app = FeathersApp(transport: transport)
        app.setIdentity(Identity("alice"))
        transport.stub(
            "notes", .find,
            with: ServiceStub { [weak transport, weak app] _ in
                fetches.add()
                switch fetches.count {
                case 1: return [["id": 1, "text": "hers"]]
                case 2:
                    // Told to alice, and followed by the gap that says she has gone.
                    transport?.emit(.created, of: "notes", ["id": 2, "text": "hers too"])
                    app?.setIdentity(Identity("bob"))
                    throw FeathersError(.unavailable, "Once more")
                default: return [["id": 3, "text": "his"]]
                }
            })
        try await withFeathersApp(app) { (app: FeathersApp) async throws -> Void in
            var results = app.service("notes").live().measured(by: clock).makeAsyncIterator()
            #expect(try await results.next()?.map { $0["text"] } == ["hers"])
            transport.drop()
            transport.restore()
            // The gap takes away what was shown before it, and its fetch replaces the one that failed.
            #expect(try await results.next() == [])
            #expect(try await results.next()?.map { $0["text"] } == ["his"])
            #expect(fetches.count == 3)
        }
    }

    @Test func `A live query that fetched over REST misses nothing until the connection stands`() async throws {
        let server = ModelServer()
        let model = try server.app(over: .mixed, [])
        model.connection?.drop()
        try await withFeathersApp(model.app) { app in
            let probe = LiveProbe(app, "news", Query(), IdentityLog(app))
            try await probe.wait(until: \.isEmpty)
            server.change("news", .create, ["text": "in between"], as: "bob")
            model.connection?.restore()
            try await probe.wait { $0.map { $0["text"] } == ["in between"] }
            await probe.stop()
        }
    }

    @Test func `A live query continues when its token ends again before the fetch is repeated`() async throws {
        let (server, clock, renewals) = (ModelServer(), ManualClock(), Counter())
        let model = try server.app(over: .feathers6)
        await model.app.service("refresh-tokens").use(
            hooks: Hooks(after: [
                .create: [
                    { _ in
                        renewals.add()
                        if renewals.count == 1 { server.endTokens(of: "alice", refreshable: true) }
                    }
                ]
            ]))
        try await model.connected { app in
            try await app.signIn("alice")
            let probe = LiveProbe(app, "notes", Query(), IdentityLog(app), clock: clock)
            try await probe.wait(until: \.isEmpty)
            server.endTokens(of: "alice", refreshable: true)
            server.cutStreams()
            try await clock.waitForSleepers(1)
            // The stream has been opened with a token that has ended, so that only a fetch can tell of it.
            server.change("notes", .create, ["text": "meanwhile"], as: "alice")
            clock.advance(by: .seconds(1))
            try await probe.wait { $0.map { $0["text"] } == ["meanwhile"] }
            await probe.stop()
            #expect(renewals.count >= 2)
        }
    }

    @Test(arguments: Way.allCases)
    func `A live query reads from the server although an old answer is kept`(way: Way) async throws {
        let server = ModelServer()
        let model = try server.app(
            over: way, [.cache, .authentication], cache: ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired))
        try await model.connected { app in
            _ = try await app.service("news").find()
            // Not told of: over a connection, its event is lost with it.
            if way == .rest {
                server.change("news", .create, ["text": "new"], as: "bob")
            } else {
                model.connection?.drop()
                server.change("news", .create, ["text": "new"], as: "bob")
                model.connection?.restore(recovered: false)
                try await model.waitUntilConnected()
            }
            let probe = LiveProbe(app, "news", Query(), IdentityLog(app))
            try await probe.state.wait { $0.records != nil }
            #expect(probe.state.current.records?.map { $0["text"] } == ["new"])
            await probe.stop()
        }
    }

    @Test
    func `Without events, a live query shows no removed record again when an older response arrives late`()
        async throws
    {
        let server = ModelServer()
        let model = try server.app(over: .rest)
        try await withFeathersApp(model.app) { app in
            try await app.signIn("alice")
            let note = try await app.notes.create(["text": "first"])
            let id = try #require(note["id"]?.integer)
            let probe = LiveProbe(app, "notes", .sorted(by: "id"), IdentityLog(app))
            try await probe.wait { $0.map { $0["text"] } == ["first"] }
            server.hold("notes", .patch)
            let patch = Task { try await app.notes.patch(id, with: ["text": "second"]) }
            try await server.waitForArrivals(at: "notes", .patch)
            try await app.notes.remove(id)
            try await probe.wait(until: \.isEmpty)
            let fetches = server.arrivals(at: "notes", .find).count
            server.release("notes", .patch)
            _ = try await patch.value
            // Only the server can tell which of them it executed last.
            try await server.waitForArrivals(at: "notes", .find, fetches + 1)
            try await probe.wait(until: \.isEmpty)
            await probe.stop()
        }
    }
}

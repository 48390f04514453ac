import Feathers
import Testing

@testable import FeathersTesting

/// Live queries beside a cache, sign-ins, and two transports.
@Suite(.timeLimit(.minutes(1))) struct LiveQueryCompositionTests {
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
}

import Feathers
import FeathersTesting
import Testing

@testable import FeathersSync

/// A server sends the events of `teams/red/members` under the path of its service, `teams/:team/members`.
@Suite("A live query of a path that a server's template matches", .timeLimit(.minutes(2)))
struct LiveTemplateTests {
    private static let template = "teams/:team/members"

    /// An app whose server has the members of two teams.
    private struct Scene {
        let server = MemoryService(startID: 1, multi: .all)
        let transport = StubRealTimeTransport(pushesEvents: false)
        let app: FeathersApp

        init() async throws {
            app = FeathersApp(transport: transport)
            for team in ["red", "blue"] {
                transport.stub(
                    "teams/\(team)/members", .find,
                    with: ServiceStub { [server] request in
                        try await server.find(Params(query: request.params.query.where("team", team)))
                    })
            }
            try await app.connect()
        }

        func team(_ name: String) -> Service<JSONValue> { app.service("teams/\(name)/members") }

        func add(_ name: String, to team: String) async throws {
            let record = try await server.create(["name": .string(name), "team": .string(team)], Params())
            transport.emit(.created, of: template, record)
        }
    }

    @Test("equals find after each change, and never shows the records of another team")
    func equalsFind() async throws {
        let scene = try await Scene()
        let clock = ManualClock()
        let pump = Task {
            while true {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        defer { pump.cancel() }
        try await scene.add("ruby", to: "red")
        try await scene.add("sapphire", to: "blue")
        var lives = ["red", "blue"].map {
            (team: $0, live: scene.team($0).live().measured(by: clock).makeAsyncIterator())
        }
        func settle(_ index: Int) async throws {
            let expected = try await scene.team(lives[index].team).find().data
            while let shown = try await lives[index].live.next() {
                #expect(shown.allSatisfy { $0["team"]?.string == lives[index].team })
                if shown == expected { return }
            }
        }
        for index in lives.indices { try await settle(index) }
        try await scene.add("garnet", to: "red")
        try await settle(0)
        try await scene.add("azurite", to: "blue")
        try await settle(1)
        let changed = try await scene.server.patch(1, with: ["name": "rubin"], Params())
        scene.transport.emit(.patched, of: Self.template, changed)
        try await settle(0)
        let removed = try await scene.server.remove(2, Params())
        scene.transport.emit(.removed, of: Self.template, removed)
        try await settle(1)
        await scene.app.disconnect()
    }

    @Test("Its cached reads are invalidated, and those of other paths are not")
    func cache() async throws {
        let scene = try await Scene()
        scene.app.use(cache: ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired))
        scene.transport.stub("teams", .find, with: ServiceStub { _ in .array([]) })
        func counts() async throws -> [Int] {
            [
                try await scene.team("red").find().data.count, try await scene.team("blue").find().data.count,
                try await scene.app.service("teams").find().data.count,
            ]
        }
        #expect(try await counts() == [0, 0, 0])
        scene.transport.stub("teams", .find, with: ServiceStub { _ in [["id": 1]] })
        _ = try await scene.server.create(["name": "ruby", "team": "red"], Params())
        #expect(try await counts() == [0, 0, 0])
        try await scene.add("garnet", to: "red")
        #expect(try await counts() == [2, 0, 0])
        await scene.app.disconnect()
    }

    @Test("Event hooks of the app, the template's service and the path's service run for their readers")
    func hooks() async throws {
        let scene = try await Scene()
        let template = scene.app.service(Self.template)
        scene.app.use(hooks: Hooks(events: [{ $0.data == "hidden" ? nil : $0 }]))
        await scene.team("red").use(hooks: Hooks(events: [{ $0.data == "blue's" ? nil : $0 }]))
        var (red, blue, all) = (
            scene.team("red").events(["seen"]).makeAsyncIterator(),
            scene.team("blue").events(["seen"]).makeAsyncIterator(), template.events(["seen"]).makeAsyncIterator()
        )
        for data in ["hidden", "blue's", "last"] as [JSONValue] {
            scene.transport.emit("seen", of: Self.template, data)
        }
        #expect(await red.next() == ServiceEvent(path: Self.template, name: "seen", data: "last"))
        #expect(await [blue.next()?.data, blue.next()?.data] == ["blue's", "last"])
        #expect(await [all.next()?.data, all.next()?.data] == ["blue's", "last"])
        await scene.app.disconnect()
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

/// What hooks and routes do to a query and its result, events do not say: then a live query equals `find`, because it
/// fetches.
@Suite("A live query whose query or result changes on the way", .timeLimit(.minutes(10)))
struct LiveHookTests {
    enum Change: CaseIterable, Sendable {
        /// A before hook adds a condition.
        case filter
        /// An after hook changes the records.
        case decrypt
        /// The path has a placeholder, and events do not say for which value they are.
        case route
    }

    private static func service(_ change: Change) async throws -> Service<JSONValue> {
        let app = FeathersApp()
        let path = change == .route ? "teams/:team/notes" : "notes"
        try await app.use(MemoryService(startID: 1, multi: .all), at: path)
        let service = app.service(path)
        switch change {
        case .filter:
            await service.use(
                hooks: Hooks(before: ["find": [{ $0.params.query = $0.params.query.where("team", "red") }]]))
        case .decrypt:
            await service.use(
                hooks: Hooks(after: [
                    "find": [
                        { context in
                            let records = context.result?.array ?? []
                            context.result = .array(records.map { $0.setting("text", to: .string("decrypted")) })
                        }
                    ]
                ]))
        case .route:
            await service.use(
                hooks: Hooks(before: [
                    "find": [
                        { context in
                            let team = context.params.route["team"] ?? ""
                            context.params.query = context.params.query.where("team", team)
                        }
                    ]
                ]))
        }
        return service
    }

    @Test("equals a find with the same arguments after each change, and shows nothing else", arguments: Change.allCases)
    func equalsFind(_ change: Change) async throws {
        let service = try await Self.service(change)
        let params = change == .route ? Params(route: ["team": "red"]) : Params()
        let other = change == .route ? Params(route: ["team": "blue"]) : Params()
        let clock = ManualClock()
        let pump = Task {
            while true {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        defer { pump.cancel() }
        var live = service.live(params: params).measured(by: clock).makeAsyncIterator()
        func settle() async throws {
            let expected = try await service.find(params: params).data
            var shown = try #require(await live.next())
            while shown != expected {
                for record in shown where change != .decrypt { #expect(record["team"] == "red") }
                shown = try #require(await live.next())
            }
        }
        try await settle()
        try await service.create(["team": "red", "text": "one"], params: params)
        try await settle()
        try await service.create(["team": "blue", "text": "two"], params: other)
        try await service.create(["team": "red", "text": "three"], params: params)
        try await settle()
        try await service.patch(1, with: ["text": "changed"], params: params)
        try await service.create(["team": "red", "text": "four"], params: params)
        try await settle()
        try await service.remove(3, params: params)
        try await settle()
    }

    @Test("shows queued writes at once all the same")
    func queued() async throws {
        let server = MemoryService(startID: 1)
        let app = FeathersApp(transport: StubTransport { try await server.respond(to: $0).result })
        let folder = try OutboxFolder()
        try app.use(outbox: try await Outbox(file: folder.file))
        let notes = app.service("notes")
        await notes.use(hooks: Hooks(before: ["find": [{ $0.params.query = $0.params.query.where("team", "red") }]]))
        var live = notes.live().snapshots.makeAsyncIterator()
        #expect(try await live.next()?.isEmpty == true)
        try await notes.outbox.create(["text": "mine"])
        #expect(try await live.next()?.map(\.state) == [.pending])
        await app.outbox?.close()
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Calls, routes, queries and live queries that name a new record by the id under which it was first known.
@Suite("New records in calls", .timeLimit(.minutes(10)))
struct NamedCallTests {
    /// An app whose server creates records with the ids 100, 101, … once it may.
    private struct Scene: Sendable {
        let app = FeathersApp()
        let outbox: Outbox
        let boards: Server
        let cards: Server

        init(in folder: OutboxFolder, mayCreate: Promise<Void>? = nil) async throws {
            (boards, cards) = (Server(mayCreate: mayCreate), Server())
            outbox = try await Outbox(file: folder.file) { options in
                options.isKeyed = true
                options.retry = OutboxRetry(initialDelay: .zero, maximumDelay: .zero)
            }
            try app.use(outbox: outbox)
            try await app.use(boards, at: "boards")
            try await app.use(cards, at: "boards/:board/cards")
            try await app.use(cards, at: "cards")
        }
    }

    private actor Server: ServiceProtocol {
        let memory = MemoryService(startID: 100)
        let mayCreate: Promise<Void>?
        private(set) var calls: [String] = []
        private var isRefusing = false

        init(mayCreate: Promise<Void>? = nil) { self.mayCreate = mayCreate }

        func refuse() { isRefusing = true }

        func find(_ params: Params) async throws -> JSONValue {
            calls.append("find \(JSONValue.object(params.query.json)) \(params.route.values.joined())")
            return try await memory.find(Params(query: params.query))
        }

        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            calls.append("get \(id)")
            return try await memory.get(id, Params())
        }

        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
            if isRefusing { throw FeathersError(.forbidden, "no") }
            try await mayCreate?.value()
            calls.append("create \(data) \(params.route.values.joined())")
            return try await memory.create(data, Params())
        }

        func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
            calls.append("patch \(id?.description ?? "-") \(data)")
            return try await memory.patch(id, with: data, Params())
        }
    }

    @Test("A direct call waits for the creation, and has the id in each place")
    func waits() async throws {
        let (folder, mayCreate) = (try OutboxFolder(), Promise<Void>())
        let scene = try await Scene(in: folder, mayCreate: mayCreate)
        let board = try await scene.app.service("boards").outbox.create(["name": "plan"])
        let id = try #require(board.recordID)
        try await withFeathersApp(scene.app) { app in
            async let read = app.service("boards").get(id)
            async let created = app.service("boards/:board/cards").create(
                ["text": "a", "board": id], params: Params(route: ["board": id.description.uppercased()]))
            mayCreate.resolve(())
            let (plan, card) = (try await read, try await created)
            #expect(plan["name"] == "plan" && card["board"] == 100)
            let found = try await app.service("cards").find(["board": ["$in": [id.json]]])
            #expect(found.count == 1)
        }
        #expect(await scene.boards.calls == [#"create {"name":"plan"} "#, "get 100"])
        #expect(
            await scene.cards.calls == [#"create {"text":"a","board":100} 100"#, #"find {"board":{"$in":[100]}} "#])
        await scene.outbox.close()
    }

    @Test("A call that names a discarded record is refused with the property, and so is a write, also after a restart")
    func discarded() async throws {
        let folder = try OutboxFolder()
        var id = ServiceID.integer(0)
        for isRestarted in [false, true] {
            let scene = try await Scene(in: folder)
            if !isRestarted {
                let board = try await scene.app.service("boards").outbox.create(["name": "plan"])
                id = try #require(board.recordID)
                try await scene.outbox.decide(.discard, for: board.id)
            }
            let cards = scene.app.service("cards")
            await #expect { try await cards.create(["of": ["board": id.json]]) } throws: {
                "\($0)".contains("data.of.board") && FeathersError.Code.gone ~= $0
            }
            await #expect { try await cards.outbox.create(["of": ["board": id.json]]) } throws: {
                "\($0)".contains("data.of.board") && FeathersError.Code.gone ~= $0
            }
            await #expect { try await cards.outbox.patch(id, with: ["n": 1]) } throws: { FeathersError.Code.gone ~= $0 }
            #expect(await scene.cards.calls.isEmpty && scene.outbox.state.entries.isEmpty)
            await scene.outbox.close()
        }
    }

    @Test("After a restart, the id under which a record was first known still reaches it")
    func restarted() async throws {
        let folder = try OutboxFolder()
        let first = try await Scene(in: folder)
        let board = try await first.app.service("boards").outbox.create(["name": "plan"])
        let id = try #require(board.recordID)
        try await withFeathersApp(first.app) { _ in _ = try await board.result() }
        await first.outbox.close()
        let second = try await Scene(in: folder)
        _ = try await second.boards.memory.create(["id": 100, "name": "plan"], Params())
        let edit = try await second.app.service("boards").outbox.patch(id, with: ["name": "new"])
        let card = try await second.app.service("boards/:board/cards").outbox.create(
            ["text": "a"], route: ["board": id.description])
        try await withFeathersApp(second.app) { _ in
            _ = try await edit.result()
            _ = try await card.result()
        }
        #expect(await second.boards.calls == [#"patch 100 {"name":"new"}"#])
        #expect(await second.cards.calls == [#"create {"text":"a"} 100"#])
        await second.outbox.close()
    }

    @Test("A live query goes on with the id, in its conditions and in its route", arguments: [false, true])
    func live(inRoute: Bool) async throws {
        let (folder, mayCreate) = (try OutboxFolder(), Promise<Void>())
        let scene = try await Scene(in: folder, mayCreate: mayCreate)
        let board = try await scene.app.service("boards").outbox.create(["name": "plan"])
        let id = try #require(board.recordID)
        let cards = scene.app.service(inRoute ? "boards/:board/cards" : "cards")
        let route = inRoute ? ["board": id.description] : [:]
        for text in ["a", "b"] {
            try await cards.outbox.create(inRoute ? ["text": text] : ["text": text, "board": id], route: route)
        }
        let query: Query<JSONValue> = inRoute ? Query() : ["board": id.json]
        try await withFeathersApp(scene.app) { _ in
            let live = cards.live(query.sorted(by: "text"), params: Params(route: route))
            var hasOpened = false
            for try await snapshot in live.snapshots {
                #expect(snapshot.map { $0.record["text"] } == ["a", "b"])
                if !hasOpened { mayCreate.resolve(()) }
                hasOpened = true
                guard !snapshot.hasPendingWrites, snapshot.source == .server else { continue }
                #expect(inRoute || snapshot.allSatisfy { $0.record["board"] == 100 })
                break
            }
        }
        let sent = await scene.boards.calls + scene.cards.calls
        #expect(!sent.contains { $0.contains(id.description) }, "\(sent)")
        await scene.outbox.close()
    }

    @Test("A direct call in a group is refused if it names a record that the group creates")
    func group() async throws {
        let scene = try await Scene(in: try OutboxFolder())
        await #expect {
            try await scene.outbox.group {
                let board = try await scene.app.service("boards").outbox.create(["name": "plan"])
                try await scene.app.service("cards").create(["board": board.recordID])
            }
        } throws: {
            FeathersError.Code.conflict ~= $0 && "\($0)".contains("data.board")
        }
        #expect(await scene.cards.calls.isEmpty && scene.outbox.state.entries.isEmpty)
        await scene.outbox.close()
    }

    @Test("The timeout of a call includes the wait for the creation")
    func timeout() async throws {
        let scene = try await Scene(in: try OutboxFolder())
        // Nothing is sent, because the app is not running.
        let board = try await scene.app.service("boards").outbox.create(["name": "plan"])
        let id = try #require(board.recordID)
        await #expect {
            try await scene.app.service("boards").get(id, params: Params(timeout: .milliseconds(20)))
        } throws: {
            FeathersError.Code.timeout ~= $0 && "\($0)".contains("the id")
        }
        #expect(await scene.boards.calls.isEmpty)
        await scene.outbox.close()
    }

    @Test("A write that refers to the record that it creates is refused when it is sent")
    func itself() async throws {
        let folder = try OutboxFolder()
        let scene = try await Scene(in: folder)
        let card = try await scene.app.service("cards").outbox.create(["text": "a"])
        try await scene.outbox.decide(
            .replace(["text": "a", "thread": .string(card.provisionalID)]), for: card.id)
        let left = try await withFeathersApp(scene.app) { _ in try await scene.outbox.flush(within: .seconds(300)) }
        #expect(left.first?.failure?.error.message.contains("data.thread") == true)
        #expect(await scene.cards.calls.isEmpty)
        await scene.outbox.close()
    }
}

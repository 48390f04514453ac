import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Related records together with queued writes, stored results, users, pages and gaps.
@Suite("Related records in an app", .timeLimit(.minutes(5)))
struct RelationSceneTests {
    @Test("show queued writes until the server has executed them")
    func queued() async throws {
        let remote = try RelationRemote()
        let app = try await remote.app(local: true)
        let pump = remote.pump()
        defer { pump.cancel() }
        var live = remote.all(app).snapshots.makeAsyncIterator()
        _ = try await live.next { $0.source == .server && $0.shown == ShownMessage.all }
        try await app.service("reactions").outbox.create(["messageID": 2, "emoji": "?", "userID": 1])
        var snapshot = try await live.next { !$0[1][Message.reactions].isEmpty }
        #expect(snapshot[1][Message.reactions].map(\.state) == [.pending])
        #expect(snapshot[1][Message.reactions].map { $0[Reaction.by]?.name } == ["Ada"])
        try await app.service("users").outbox.patch(1, with: ["name": "Adele"])
        snapshot = try await live.next { $0[0].authorName == "Adele" }
        #expect(snapshot.map { $0[Message.author]?.state } == [.pending, .confirmed, .pending, .confirmed])
        #expect(snapshot[2][Message.reactions].map { $0[Reaction.by]?.name } == ["Adele"])
        try await app.service("reactions").outbox.remove(1)
        _ = try await live.next { $0[0][Message.reactions].map(\.emoji) == ["-"] }
        let run = Task { try await app.run() }
        let settled = try await live.next { snapshot in
            snapshot.allSatisfy { row in
                row[Message.author]?.state == .confirmed
                    && row[Message.reactions].allSatisfy { $0.state == .confirmed }
            }
        }
        #expect(
            settled.shown == [
                ShownMessage("a", "Adele", "Red", "-Cy"), ShownMessage("b", "Bob", "Blue", "?Adele"),
                ShownMessage("c", "Adele", "Red", "!Adele"), ShownMessage("d", "Cy", nil, "~Cy"),
            ])
        await remote.end(app, run)
    }

    @Test("show what refers to a queued record, by its text or its number", arguments: [false, true])
    func provisional(isNumber: Bool) async throws {
        let remote = try RelationRemote()
        let app = try await remote.app(local: true)
        let pump = remote.pump()
        defer { pump.cancel() }
        var live = remote.all(app).snapshots.makeAsyncIterator()
        _ = try await live.next { $0.source == .server && $0.shown == ShownMessage.all }
        func id(of queued: OutboxWrite.ID) -> JSONValue {
            let text = queued.uuidString.lowercased()
            return isNumber ? .provisionalNumber(for: text) : .string(text)
        }
        let team = try await app.service("teams").outbox.create(["title": "Green"])
        let user = try await app.service("users").outbox.create(["name": "Dee", "teamID": id(of: team.id)])
        let message = try await app.service("messages").outbox.create(["text": "e", "authorID": id(of: user.id)])
        try await app.service("reactions").outbox.create([
            "messageID": id(of: message.id), "emoji": "?", "userID": id(of: user.id),
        ])
        let new = ShownMessage("e", "Dee", "Green", "?Dee")
        let snapshot = try await live.next { $0.shown.contains(new) }
        let row = try #require(snapshot.first { $0.text == "e" })
        #expect(row.state == .pending && row[Message.author]?.state == .pending)
        #expect(row[Message.author]?[User.team]?.state == .pending && row.hasLoaded(Message.author))
        let run = Task { try await app.run() }
        let settled = try await live.next {
            $0.shown == ShownMessage.all + [new] && !$0.hasPendingWrites
                && $0.last?[Message.reactions].allSatisfy { $0.state == .confirmed } ?? false
        }
        #expect(settled.last?.id == message.id.uuidString.lowercased())
        await remote.end(app, run)
        for request in remote.requests.withLock({ $0 }) {
            let text = "\(request.params.query.json) \(request.data ?? .null) \(request.id?.description ?? "")"
            for write in [team.id, user.id, message.id] {
                let forms = JSONValue.provisionalForms(of: write.uuidString.lowercased())
                for form in forms { #expect(!text.contains("\(form)"), "\(request.path) \(text)") }
            }
        }
    }

    @Test("that are queued in one group with a row show with it, in one step")
    func group() async throws {
        let remote = try RelationRemote()
        let app = try await remote.app(local: true)
        let pump = remote.pump()
        defer { pump.cancel() }
        var live = remote.all(app).snapshots.makeAsyncIterator()
        _ = try await live.next { $0.source == .server && $0.shown == ShownMessage.all }
        try await app.outbox?.group {
            let message = try await app.service("messages").outbox.create(["text": "e", "authorID": 1])
            let id = JSONValue.string(message.id.uuidString.lowercased())
            for emoji in ["?", "!"] {
                try await app.service("reactions").outbox.create([
                    "messageID": id, "emoji": .string(emoji), "userID": 1,
                ])
            }
        }
        let first = try await live.next { $0.contains { $0.text == "e" } }
        #expect(first.last?[Message.reactions].map(\.emoji).sorted() == ["!", "?"])
        #expect(first.last?[Message.reactions].map(\.messageID) == first.last.map { [$0.record.id, $0.record.id] })
        let run = Task { try await app.run() }
        await remote.end(app, run)
    }

    @Test("are there without a server, the nested ones too")
    func offline() async throws {
        let remote = try RelationRemote()
        try await visit(remote)
        remote.isOnline.withLock { $0 = false }
        let app = try await remote.app(local: true)
        var live = remote.all(app).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot.shown == ShownMessage.all && snapshot.source != .server)
        #expect(snapshot.allSatisfy { $0.hasLoaded(Message.author) })
        await app.outbox?.close()
    }

    /// Runs an app until the related records are on this device.
    private func visit(_ remote: RelationRemote, as user: String? = nil) async throws {
        let app = try await remote.app(local: true, as: user)
        try await withFeathersApp(app) { app in
            var live = remote.all(app).snapshots.makeAsyncIterator()
            _ = try await live.next {
                $0.source == .server && $0.shown == (user == nil ? ShownMessage.all : ShownMessage.ofAda)
            }
        }
        await app.outbox?.close()
    }

    @Test("of a user are not shown to the next one", arguments: [false, true])
    func users(local: Bool) async throws {
        let remote = try RelationRemote()
        remote.user.withLock { $0 = "ada" }
        if local { try await visit(remote, as: "ada") }
        let app = try await remote.app(local: local, as: "ada")
        let pump = remote.pump()
        defer { pump.cancel() }
        var live = remote.all(app).snapshots.makeAsyncIterator()
        _ = try await live.next { $0.source == .server && $0.shown == ShownMessage.ofAda }
        remote.user.withLock { $0 = "bob" }
        app.setIdentity(Identity("bob"))
        let ofBob = [ShownMessage("d", "Cy", nil, "~Cy")]
        var snapshot = try #require(try await live.next())
        while snapshot.shown != ofBob {
            // The first rows wait for their related records.
            #expect(snapshot.isEmpty, "\(snapshot.shown)")
            let texts = snapshot.shown.map(\.description).joined()
            #expect(!["Ada", "Bob", "Red", "+", "!"].contains { texts.contains($0) }, "\(texts)")
            snapshot = try #require(try await live.next())
        }
        #expect(snapshot.shownIdentity == Identity("bob"))
        remote.user.withLock { $0 = "ada" }
        app.setIdentity(Identity("ada"))
        _ = try await live.next { $0.source == .server && $0.shown == ShownMessage.ofAda }
        await app.outbox?.close()
    }

    @Test("arrive from a server with small pages", arguments: [1, 2, 3])
    func pages(page: Int) async throws {
        let remote = try RelationRemote(page: page)
        for number in 0..<7 {
            _ = try await remote.services["reactions"]?.create(
                ["messageID": .integer(Int64(number % 2 + 1)), "emoji": .string("\(number)")], Params())
        }
        let app = try await remote.app()
        var live = remote.all(app).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        // The server limits the messages themselves.
        #expect(snapshot.count == page)
        #expect(snapshot[0][Message.reactions].map(\.emoji) == ["+", "-", "0", "2", "4", "6"])
        if page > 1 { #expect(snapshot[1][Message.reactions].map(\.emoji) == ["1", "3", "5"]) }
        #expect(snapshot.compactMap { $0[Message.author]?.name } == Array(["Ada", "Bob", "Ada"].prefix(page)))
    }

    @Test("are fetched again after a gap")
    func gap() async throws {
        let remote = try RelationRemote()
        let transport = StubRealTimeTransport(passingThrough: StubTransport { try await remote.respond(to: $0) })
        let app = try await remote.app(over: transport)
        let pump = remote.pump()
        defer { pump.cancel() }
        try await app.connect()
        var live = remote.all(app).snapshots.makeAsyncIterator()
        _ = try await live.next { $0.shown == ShownMessage.all }
        transport.drop()
        _ = try await remote.services["users"]?.patch(1, with: ["name": "Adele", "teamID": 2], Params())
        _ = try await remote.services["reactions"]?.remove(3, Params())
        _ = try await remote.services["reactions"]?.patch(1, with: ["messageID": 2], Params())
        _ = try await remote.services["teams"]?.patch(2, with: ["title": "Navy"], Params())
        _ = try await remote.services["messages"]?.patch(4, with: ["authorID": 2], Params())
        transport.restore()
        let snapshot = try await live.next { snapshot in
            snapshot.shown == [
                ShownMessage("a", "Adele", "Navy", "-Cy"), ShownMessage("b", "Bob", "Navy", "+Bob"),
                ShownMessage("c", "Adele", "Navy"), ShownMessage("d", "Bob", "Navy", "~Cy"),
            ]
        }
        #expect(snapshot.source == .server)
        await app.disconnect()
    }

    @Test("are found although the query does not select the property with their id")
    func selection() async throws {
        struct Text: Codable, Sendable, Queryable {
            let id: Int, text: String?, authorID: Int?
            enum CodingKeys: String, CodingKey { case id, text, authorID }
            enum QueryKeys: String, CodingKey { case id, text, authorID }
            static let author = relation(to: User.self, at: "users", by: .authorID)
            static let reactions = relation(toMany: Reaction.self, at: "reactions", by: .messageID)
        }
        let remote = try RelationRemote()
        let app = try await remote.app()
        let query = Query<Text>.sorted(by: "id").selecting("text")
        let live = app.service("messages", of: Text.self).live(query).including(Text.author, Text.reactions)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map(\.text) == ["a", "b", "c", "d"])
        #expect(snapshot.map { $0[Text.author]?.name } == ["Ada", "Bob", "Ada", "Cy"])
        #expect(snapshot.map { $0[Text.reactions].map(\.emoji) } == [["+", "-"], [], ["!"], ["~"]])
    }

    @Test("are fetched with more rows, and again with the query")
    func growth() async throws {
        let remote = try RelationRemote()
        let app = try await remote.app()
        let pump = remote.pump()
        defer { pump.cancel() }
        let messages = app.service("messages", of: Message.self).live(.sorted(by: "id").limit(2))
        let query = messages.measured(by: remote.clock).including(
            Message.author.including(User.team), Message.reactions.including(Reaction.by))
        var live = query.snapshots.makeAsyncIterator()
        #expect(try await live.next()?.shown == Array(ShownMessage.all.prefix(2)))
        try await query.loadMore()
        _ = try await live.next { $0.shown == ShownMessage.all }
        // Nothing reports these changes.
        _ = try await remote.services["users"]?.patch(1, with: ["name": "Adele"], Params())
        _ = try await remote.services["teams"]?.patch(1, with: ["title": "Green"], Params())
        _ = try await remote.services["reactions"]?.create(["messageID": 2, "emoji": "?"], Params())
        remote.requests.withLock { $0 = [] }
        try await query.refresh()
        let shown = [
            ShownMessage("a", "Adele", "Green", "+Bob", "-Cy"), ShownMessage("b", "Bob", "Blue", "?"),
            ShownMessage("c", "Adele", "Green", "!Adele"), ShownMessage("d", "Cy", nil, "~Cy"),
        ]
        _ = try await live.next { $0.shown == shown }
        #expect(remote.finds.sorted() == ["messages", "reactions", "teams", "users", "users"])
    }

    @Test("that cannot be reached at first join the rows later", arguments: [false, true])
    func unreachable(local: Bool) async throws {
        let remote = try RelationRemote()
        remote.silent.withLock { $0 = ["users"] }
        let app = try await remote.app(local: local)
        var live = remote.all(app).snapshots.makeAsyncIterator()
        let first = try await live.next { $0.source == .server }
        #expect(first.map(\.text) == ["a", "b", "c", "d"])
        #expect(first.allSatisfy { $0[Message.author] == nil && !$0.hasLoaded(Message.author) })
        remote.silent.withLock { $0 = [] }
        let pump = remote.pump()
        defer { pump.cancel() }
        let last = try await live.next { $0.shown == ShownMessage.all }
        #expect(last.allSatisfy { $0.hasLoaded(Message.author) })
        await app.outbox?.close()
    }

    @Test("are no longer followed once the reader is cancelled")
    func end() async throws {
        let remote = try RelationRemote()
        let shown = Promise<Void>()
        let app = try await remote.app()
        let query = remote.all(app)
        let reader = Task {
            for try await snapshot in query.snapshots where snapshot.shown == ShownMessage.all { shown.resolve(()) }
        }
        try await shown.value()
        #expect(await remote.windows(of: app) == ["messages": 1, "users": 2, "teams": 1, "reactions": 1])
        reader.cancel()
        _ = await reader.result
        #expect(await remote.windows(of: app) == ["messages": 0, "users": 0, "teams": 0, "reactions": 0])
    }

    @Test("retain the app no longer than the query")
    func retention() async throws {
        let remote = try RelationRemote()
        weak var app: FeathersApp?
        do {
            let open = try await remote.app()
            app = open
            var live = remote.all(open).snapshots.makeAsyncIterator()
            #expect(try await live.next()?.shown == ShownMessage.all)
        }
        #expect(app == nil)
    }

    @Test("change only the rows whose related records have changed since the previous snapshot")
    func updates() async throws {
        let remote = try RelationRemote()
        let app = try await remote.app()
        var live = remote.all(app).snapshots.makeAsyncIterator()
        _ = try await live.next()
        try await app.service("teams").patch(1, with: ["title": "Green"])
        #expect(try await live.next()?.changes.updates == [0, 2])
        try await app.service("messages").patch(2, with: ["text": "new"])
        #expect(try await live.next()?.changes.updates == [1])
    }
}

extension LiveRow<Message> {
    fileprivate var authorName: String? { self[Message.author]?.name }
}

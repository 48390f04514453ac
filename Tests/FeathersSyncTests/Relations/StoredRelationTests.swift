import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Related records that other lists have stored.
@Suite("Related records without a server", .timeLimit(.minutes(5)))
struct StoredRelationTests {
    /// Stores the lists of queries.
    private func visit(_ remote: RelationRemote, as user: String? = nil, _ paths: String...) async throws {
        let app = try await remote.app(local: true, as: user)
        for path in paths {
            var live = app.service(path).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
        }
        await app.storedLists?.write(app.diagnostics)
        await app.outbox?.close()
    }

    @Test("are read by their keys, whatever list has them, the nested ones too")
    func byKey() async throws {
        let remote = try RelationRemote()
        _ = try await remote.services["messages"]?.patch(1, with: ["readers": [2, 3, 9]], Params())
        try await visit(remote, "messages", "users", "teams")
        remote.isOnline.withLock { $0 = false }
        let app = try await remote.app(local: true)
        let query = remote.messages(app).including(Message.author.including(User.team), Message.readers)
        var live = query.snapshots.makeAsyncIterator()
        let snapshot = try await live.next { snapshot in
            snapshot.first?[Message.author]?[User.team] != nil && snapshot[0][Message.readers].count == 2
                && snapshot[0].relatedFailure(Message.readers) != nil
        }
        #expect(snapshot.source != .server)
        #expect(snapshot.map { $0[Message.author]?.name } == ["Ada", "Bob", "Ada", "Cy"])
        #expect(snapshot.map { $0[Message.author]?[User.team]?.title } == ["Red", "Blue", "Red", nil])
        #expect(snapshot.allSatisfy { $0.hasLoaded(Message.author) })
        // One of them is not on this device.
        #expect(snapshot[0][Message.readers].map(\.name) == ["Bob", "Cy"] && !snapshot[0].hasLoaded(Message.readers))
        #expect(snapshot[0].relatedFailure(Message.readers) != nil && snapshot[1].hasLoaded(Message.readers))
        // A key that is wanted later.
        try await app.service("messages").outbox.patch(1, with: ["authorID": 3])
        _ = try await live.next { $0[0][Message.author]?.name == "Cy" }
        try await app.service("users").outbox.patch(3, with: ["name": "Cyd"])
        let last = try await live.next { $0[0][Message.author]?.name == "Cyd" }
        #expect(last[0][Message.author]?.state == .pending)
        await app.outbox?.close()
    }

    @Test("give way to those of the server once it can be reached")
    func backOnline() async throws {
        let remote = try RelationRemote()
        try await visit(remote, "messages", "users")
        _ = try await remote.services["users"]?.patch(1, with: ["name": "Adele"], Params())
        _ = try await remote.services["users"]?.remove(2, Params())
        remote.isOnline.withLock { $0 = false }
        let app = try await remote.app(local: true)
        let query = remote.messages(app).including(Message.author)
        var live = query.snapshots.makeAsyncIterator()
        _ = try await live.next { $0.map { $0[Message.author]?.name } == ["Ada", "Bob", "Ada", "Cy"] }
        remote.isOnline.withLock { $0 = true }
        let pump = remote.pump()
        defer { pump.cancel() }
        let last = try await live.next {
            $0.source == .server && $0.map { $0[Message.author]?.name } == ["Adele", nil, "Adele", "Cy"]
        }
        #expect(last.allSatisfy { $0.hasLoaded(Message.author) })
        await app.outbox?.close()
    }

    @Test("are read from the server if an earlier write has created them with an id of the app's")
    func chosenIDs() async throws {
        struct Card: Codable, Sendable, Queryable {
            var id: String
            var owner: String

            enum CodingKeys: String, CodingKey { case id, owner }

            static let person = relation(to: Person.self, at: "people", by: .owner)
        }
        struct Person: Codable, Sendable, Queryable {
            var id: String
            var name: String

            enum CodingKeys: String, CodingKey { case id, name }
        }
        let services = [
            "cards": MemoryService(records: [["id": "c", "owner": "p"]]),
            "people": MemoryService(records: [["id": "p", "name": "Ada"]]),
        ]
        let app = FeathersApp(transport: StubTransport(services: services))
        app.relationLimits.responseDelay = .seconds(3600)
        let outbox = try await Outbox(file: OutboxFolder().file) {
            ($0.isKeyed, $0.keyPlaces) = (true, [.recordID()])
        }
        try app.use(outbox: outbox)
        try await withFeathersApp(app) { app in
            let created = try await app.service("people").outbox.create(["name": "Bob"])
            _ = try await created.result()
            var live = app.service("cards", of: Card.self).live().including(Card.person).snapshots.makeAsyncIterator()
            #expect(try await live.next()?.first?[Card.person]?.name == "Ada")
            let id = try #require(created.write.provisionalKeys.first)
            _ = try await app.service("cards").patch("c", with: ["owner": .string(id)])
            #expect(
                try await live.next { $0.first?.owner == id && $0[0].hasLoaded(Card.person) }[0][Card.person]?.name
                    == "Bob")
        }
        await outbox.close()
    }

    @Test("of another user are not read")
    func users() async throws {
        let remote = try RelationRemote()
        try await visit(remote, as: "ada", "users")
        try await visit(remote, as: "bob", "messages")
        remote.isOnline.withLock { $0 = false }
        let app = try await remote.app(local: true, as: "bob")
        var live = remote.messages(app).including(Message.author).snapshots.makeAsyncIterator()
        let snapshot = try await live.next { $0.first?.relatedFailure(Message.author) != nil }
        #expect(snapshot.count == 4 && snapshot.allSatisfy { $0[Message.author] == nil })
        await app.outbox?.close()
    }
}

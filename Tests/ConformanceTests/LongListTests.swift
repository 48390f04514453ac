import Feathers
import Foundation
import TestBackend
import Testing

/// Lists of more than 20 elements in queries. Common servers read the 21st element of an array in a query string as the
/// key of an object, so that `$in` matches nothing and `$nin` everything.
@Suite("Conformance: long lists", .inTurn, .enabled(if: !TestBackend.isSkipped))
struct LongListTests {
    private struct Author: Codable, Sendable, Queryable {
        var id: ServiceID
        var name: String
        enum CodingKeys: String, CodingKey { case id, name }
    }

    private struct Note: Codable, Sendable, Queryable {
        var id: ServiceID
        var room: String
        var authorID: ServiceID
        enum CodingKeys: String, CodingKey { case id, room, authorID }
        static let author = relation(to: Author.self, at: "todos", by: .authorID)
    }

    /// Over REST, and over REST with a connection, of servers with either parser.
    private static let subjects: [Subject] = [.rest, .restOfCommonParser, .mixedForEvents, .mixedOfCommonParser]

    private let room = "long-lists-\(UUID().uuidString)"

    /// Records whose ids are texts, which a query string does not change.
    private func records(_ count: Int) -> [JSONValue] {
        (0..<count).map { ["id": .string("\(room)-\($0)"), "room": .string(room), "name": .string("name \($0)")] }
    }

    @Test("Records are read by more ids than a request may have", arguments: subjects)
    func ids(_ subject: Subject) async throws {
        let todos = try await subject.app().service("todos")
        let created = try await todos.create(contentsOf: records(90))
        let ids = try created.reversed().map { try $0.id }
        #expect(try await todos.find(ids: ids).map { try $0.id } == ids)
        let few = Array(ids.prefix(22))
        #expect(try await todos.find(ids: few).map { try $0.id } == few)
    }

    @Test("A list has the related records of all its rows", arguments: subjects)
    func relations(_ subject: Subject) async throws {
        let app = try await subject.app()
        let authors = try await app.service("todos").create(contentsOf: records(45))
        let notes = try authors.map { ["room": .string(room), "authorID": try $0.id.json] as JSONValue }
        try await app.service("messages").create(contentsOf: notes)
        let live = app.service("messages", of: Note.self).live(.where(.room, room).limit(50)).including(Note.author)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.count == 45 && snapshot.allSatisfy { $0[Note.author]?.record.id == $0.authorID })
    }

    @Test("Without a connection, what cannot be divided is refused", arguments: [Subject.rest, .restOfCommonParser])
    func refused(_ subject: Subject) async throws {
        let todos = try await subject.app().service("todos")
        let ids = try await todos.create(contentsOf: records(30)).map { try $0.id }
        let others = Query<JSONValue>.where("id", .isNotIn(ids.prefix(22))).where("room", .string(room))
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await todos.removeAll(query: others) },
            { _ = try await todos.patchAll(query: others, with: ["name": "changed"]) },
            { _ = try await todos.find(others) },
            { _ = try await todos.find(.where("room", .string(room)).selecting((0..<21).map { "p\($0)" })) },
            { _ = try await todos.find(.any(of: ids.prefix(21).map { .where("id", $0) })) },
            { _ = try await todos.find(.all(of: ids.prefix(21).map { .where("id", .notEquals($0)) })) },
        ]
        for call in calls {
            await #expect { try await call() } throws: { error in
                let error = error as? FeathersError
                return error?.code == .badRequest && error?.execution == .neverSent
                    && error?.message.contains("arrayLimit: 1000") == true
            }
        }
        #expect(try await todos.find(.where("room", .string(room))).count == 30)
    }

    @Test("With a connection, it goes over that", arguments: [Subject.mixedForEvents, .mixedOfCommonParser])
    func overConnection(_ subject: Subject) async throws {
        let todos = try await subject.app().service("todos")
        let ids = try await todos.create(contentsOf: records(30)).map { try $0.id }
        let others = Query<JSONValue>.where("id", .isNotIn(ids.prefix(22))).where("room", .string(room))
        #expect(try await todos.find(others).count == 8)
        #expect(try await todos.patchAll(query: others, with: ["name": "changed"]).count == 8)
        #expect(try await todos.removeAll(query: others).count == 8)
        #expect(try await todos.find(.where("room", .string(room))).count == 22)
        // A call with a header field of its own cannot.
        await #expect {
            try await todos.find(others, params: Params(headers: ["X-Tenant": "1"]))
        } throws: {
            ($0 as? FeathersError)?.message.contains("arrayLimit") == true
        }
    }

    @Test("An app that says that its server reads more is believed")
    func declared() async throws {
        let options = QueryStringOptions(arrayLimit: 1000)
        func todos(_ url: URL) -> Service<JSONValue> {
            FeathersApp(transport: .rest(url, queryOptions: options)).service("todos")
        }
        let wide = todos(try await TestBackend.url())
        let ids = try await wide.create(contentsOf: records(30)).map { try $0.id }
        #expect(try await wide.find(.where("id", .isIn(ids))).count == 30)
        // The parsers differ, so that these tests show something.
        let common = todos(try await Subject.commonParser.url())
        let others = try await common.create(contentsOf: records(30)).map { try $0.id }
        #expect(try await common.find(.where("id", .isIn(others))).isEmpty)
    }
}

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Services that write names, dates or results in ways of their own.
@Suite("Related records in the format of their service", .timeLimit(.minutes(5)))
struct RelationFormatTests {
    struct Entry: Codable, Sendable, Queryable {
        var id: Int
        var authorID: Int
        var readerIds: [Int]

        enum CodingKeys: String, CodingKey { case id, authorID, readerIds }

        static let author = relation(to: Person.self, at: "people", by: .authorID)
        static let readers = relation(toMany: Person.self, at: "people", byAll: .readerIds)
        static let comments = relation(
            toMany: Comment.self, at: "comments", by: .entryID, .sorted(by: .sentAt, .descending))
    }

    struct Person: Codable, Sendable, Queryable {
        var id: Int
        var fullName: String

        enum CodingKeys: String, CodingKey { case id, fullName }
    }

    struct Comment: Codable, Sendable, Queryable {
        var id: Int
        var entryID: Int
        var sentAt: Int

        enum CodingKeys: String, CodingKey { case id, entryID, sentAt }
    }

    struct Member: Codable, Sendable {
        var id: Int
        var born: Date
    }

    @Test("are found where names are in snake case, also if the query selects properties", arguments: [false, true])
    func snakeCase(selects: Bool) async throws {
        let app = FeathersApp()
        app.relationLimits.responseDelay = .seconds(600)
        app.coding = CodingOptions(keys: .snakeCase)
        let records: [String: [JSONObject]] = [
            "entries": [["id": 1, "author_id": 7, "reader_ids": [8, 7]]],
            "people": [["id": 7, "full_name": "Ada"], ["id": 8, "full_name": "Bob"]],
            "comments": [["id": 1, "entry_id": 1, "sent_at": 1], ["id": 2, "entry_id": 1, "sent_at": 2]],
        ]
        for (path, records) in records { try await app.use(MemoryService(records: records), at: path) }
        let entries = app.service("entries", of: Entry.self)
        let query: Query<Entry> = selects ? .selecting(.authorID, .readerIds) : Query()
        var live = entries.live(query).including(Entry.author, Entry.readers, Entry.comments).snapshots
            .makeAsyncIterator()
        let row = try #require(try await live.next()?.first)
        #expect(row[Entry.author]?.fullName == "Ada" && row.hasLoaded(Entry.author))
        #expect(row[Entry.readers].map(\.fullName) == ["Bob", "Ada"])
        #expect(row[Entry.comments].map(\.sentAt) == [2, 1])
    }

    @Test("are decoded and unwrapped as the relation says")
    func coding() async throws {
        let transport = StubTransport { request in
            guard request.path == "members" else { return [["id": 1, "authorID": 7, "readerIds": []]] }
            return ["status": "ok", "data": ["members": [["id": 7, "born": 1_000_000]]]]
        }
        let born = Entry.relation(
            to: Member.self, at: "members", by: .authorID, rootKeys: ["data", "members"],
            coding: CodingOptions(dates: .secondsSince1970))
        let app = FeathersApp(transport: transport)
        app.relationLimits.responseDelay = .seconds(600)
        let entries = app.service("entries", of: Entry.self)
        var live = entries.live().including(born).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.first?[born]?.born == Date(timeIntervalSince1970: 1_000_000))
    }

    @Test("are read with the root keys and the codec with which the app reads their service")
    func usual() async throws {
        let transport = StubTransport { request in
            guard request.path == "members" else { return [["id": 1, "authorID": 7, "readerIds": []]] }
            return ["status": "ok", "data": ["members": [["id": 7, "born": 1_000_000]]]]
        }
        let born = Entry.relation(to: Member.self, at: "members", by: .authorID)
        let app = FeathersApp(transport: transport)
        app.relationLimits.responseDelay = .seconds(600)
        let members = app.service(
            "members", of: Member.self, rootKeys: ["data", "members"],
            coding: CodingOptions(dates: .secondsSince1970))
        var live = app.service("entries", of: Entry.self).live().including(born).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.first?[born]?.born == Date(timeIntervalSince1970: 1_000_000))
        #expect(try await members.find().data.count == 1)
    }

    @Test("are all there with the first rows, also if another list knows some of them")
    func known() async throws {
        let (isAsked, mayAnswer) = (Promise<Void>(), Promise<Void>())
        let transport = StubTransport { request in
            guard request.path == "people" else { return [["id": 1, "authorID": 7, "readerIds": [8, 7]]] }
            let ids = request.params.query.json["id"]?["$in"]?.array ?? []
            if ids == [8] {
                isAsked.resolve(())
                try await mayAnswer.value()
            }
            return .array(ids.map { ["id": $0, "fullName": $0 == 7 ? "Ada" : "Bob"] })
        }
        let app = FeathersApp(transport: transport)
        app.relationLimits.responseDelay = .seconds(600)
        let entries = app.service("entries", of: Entry.self)
        var first = entries.live().including(Entry.author).snapshots.makeAsyncIterator()
        #expect(try await first.next()?.first?[Entry.author]?.fullName == "Ada")
        async let row = entries.live().including(Entry.readers).snapshots.first { _ in true }?.first
        try await isAsked.value()
        mayAnswer.resolve(())
        #expect(try await row?[Entry.readers].map(\.fullName) == ["Bob", "Ada"])
    }

    struct Loose: Codable, Sendable, Queryable {
        var id: Int
        var owner: JSONValue

        enum CodingKeys: String, CodingKey { case id, owner }

        static let person = relation(to: Named.self, at: "people", by: .owner)
        static let people = relation(toMany: Named.self, at: "people", byAll: .owner)
        static let named = relation(to: Named.self, at: "people", by: .owner, id: "_id")
    }

    struct Named: Codable, Sendable { var fullName: String }

    /// Reads a relation of two records, and returns what the diagnostics warn of.
    private func read<Value>(
        _ relation: Relation<Loose, Value>, _ owners: [JSONValue], of ids: [JSONValue]
    ) async throws -> (rows: [LiveRow<Loose>], warnings: [String]) {
        let warnings = Locked<[String]>([])
        let app = FeathersApp()
        app.use(diagnostics: .text { line in warnings.withLock { $0.append(line) } })
        app.relationLimits.responseDelay = .seconds(600)
        let records = owners.enumerated().map { ["id": .integer(Int64($0)), "owner": $1] as JSONObject }
        try await app.use(MemoryService(records: records), at: "rows")
        let people = ids.map { ["id": $0, "fullName": "Ada"] as JSONObject }
        try await app.use(MemoryService(records: people), at: "people")
        var live = app.service("rows", of: Loose.self).live().including(relation).snapshots.makeAsyncIterator()
        let rows = try await live.next().map(Array.init) ?? []
        return (rows, warnings.withLock { $0.filter { $0.contains("The relation") } })
    }

    @Test(
        "are found by text and by number",
        arguments: [(["7", "8"], [7, 8]), ([7, 8], ["7", "8"])] as [([JSONValue], [JSONValue])])
    func types(owners: [JSONValue], ids: [JSONValue]) async throws {
        let found = try await read(Loose.person, owners, of: ids)
        #expect(found.rows.map { $0[Loose.person]?.fullName } == ["Ada", "Ada"] && found.warnings.isEmpty)
    }

    @Test("that are not found, or have no key, cause one warning with the reason")
    func warnings() async throws {
        var found = try await read(Loose.named, [7, 8], of: [7, 8])
        #expect(found.warnings.count == 1 && found.warnings.first?.contains("in '_id'") == true)
        found = try await read(Loose.person, [[7], [8]], of: [7, 8])
        #expect(found.warnings.count == 1 && found.warnings.first?.contains("byAll") == true)
        found = try await read(Loose.people, [7, 8], of: [7, 8])
        #expect(found.warnings.count == 1 && found.warnings.first?.contains("one id") == true)
        found = try await read(Loose.person, [7, 9], of: [7, 8])
        #expect(found.warnings.isEmpty)
    }
}

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
}

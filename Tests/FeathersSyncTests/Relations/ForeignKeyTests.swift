import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("Foreign keys from records", .timeLimit(.minutes(10)))
struct ForeignKeyTests {
    @Test(
        "are texts and numbers: a structure in their place is asked for nowhere",
        arguments: [["$gt": 0], [["$ne": 1]], [:], true, nil] as [JSONValue])
    func structure(value: JSONValue) async throws {
        struct Note: Codable, Sendable, Queryable {
            var id: Int
            enum CodingKeys: String, CodingKey { case id, authorID, readers }
            init(from decoder: any Decoder) throws {
                id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            }
            func encode(to encoder: any Encoder) throws {}
            static let author = relation(to: User.self, at: "users", by: .authorID)
            static let readers = relation(toMany: User.self, at: "users", byAll: .readers)
        }
        let notes = MemoryService(records: [
            ["id": 1, "authorID": value, "readers": [value, 2]], ["id": 2, "authorID": 1],
        ])
        let users = MemoryService(records: [["id": 1, "name": "Ada"], ["id": 2, "name": "Bob"]])
        let stub = StubTransport(services: ["notes": notes, "users": users])
        let app = FeathersApp(transport: stub)
        app.relationLimits.responseDelay = .seconds(600)
        let live = app.service("notes", of: Note.self).live(.sorted(by: .id)).including(Note.author, Note.readers)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.map { $0[Note.author]?.name } == [nil, "Ada"])
        #expect(snapshot.map { $0[Note.readers].map(\.name) } == [["Bob"], []])
        let keys = stub.requests.filter { $0.path == "users" }.compactMap { $0.params.query.json["id"]?["$in"] }
        #expect(Set(keys.map { "\($0)" }) == ["[1]", "[2]"])
    }
}

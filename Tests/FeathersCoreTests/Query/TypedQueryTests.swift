import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("A typed query")
struct TypedQueryTests {
    enum Kind: String, Codable, QueryValue { case text, image }

    struct Address: Codable, Sendable {
        var city: String
        var zip: Int?
    }

    /// A value that not every string decodes to.
    struct Email: Codable, Sendable, QueryValue {
        let text: String
        var queryValue: JSONValue { .string(text) }

        init(_ text: String) { self.text = text }

        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
            guard text.contains("@") else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no @"))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    enum Attachment: Codable, Sendable {
        case file(name: String)
        case link(URL)
    }

    struct Person: Codable, Queryable {
        var id: Int
        var name: String
        var isAdmin: Bool
        var isActive: Bool?
        var age: Double?
        var born: Date
        var token: UUID
        var tags: [String]
        var address: Address
        var kind: Kind
        var oldKind: Kind?
        var kinds: [Kind]
        var email: Email
        var attachment: Attachment
        var createdAt: Date?
        var fullName: String { name + address.city }

        enum CodingKeys: String, CodingKey {
            case id = "_id", name, isAdmin = "is_admin", isActive, age, born, token, tags, address, kind, oldKind,
                kinds, email, attachment
            case createdAt
        }
    }

    private static let date = Date(timeIntervalSince1970: 0)
    private static let day = "1970-01-01T00:00:00.000Z"

    static let table: [(Query<Person>, Query<JSONValue>)] = [
        (.where(.id, 7), ["_id": 7]),
        (.where(.name, "Ann"), ["name": "Ann"]),
        (.where(.isAdmin, true), ["is_admin": true]),
        (.where(.isActive, .notEquals(false)), ["isActive": ["$ne": false]]),
        (.where(.isActive, nil), ["isActive": nil]),
        (.where(.age, .greaterThan(18)).where(.age, .lessThanOrEqual(65)), ["age": ["$gt": 18.0, "$lte": 65.0]]),
        (
            .where(.age, .greaterThanOrEqual(1)).where(.name, .lessThan("m")),
            ["age": ["$gte": 1.0], "name": ["$lt": "m"]]
        ),
        (.where(.born, .lessThan(date)), ["born": ["$lt": .string(day)]]),
        (.where(.kind, Kind.image), ["kind": "image"]),
        (.where(.kind, .isIn([Kind.text])), ["kind": ["$in": ["text"]]]),
        (.where(.oldKind, .isNotIn([Kind.image])), ["oldKind": ["$nin": ["image"]]]),
        (.where(.kinds, Kind.text), ["kinds": "text"]),
        (.where(.tags, "swift"), ["tags": "swift"]),
        (.where(.email, Email("a@b.c")), ["email": "a@b.c"]),
        (.where(.attachment, .notEquals(nil)), ["attachment": ["$ne": nil]]),
        (.where(.token, .isIn(["x", 1, nil])), ["token": ["$in": ["x", 1, nil]]]),
        (
            .where(.id, .greaterThanOrEqual(1)).where("address.city", .equals("Rome")),
            ["_id": ["$gte": 1], "address.city": "Rome"]
        ),
        (.where(.age, .custom("$mod", 7)), ["age": ["$mod": 7]]),
        (
            .sorted(by: .createdAt, .descending).sorted(by: .name).limit(3).skip(1),
            ["$sort": ["createdAt": -1, "name": 1], "$limit": 3, "$skip": 1]
        ),
        (.any(of: [.where(.id, 1), .where(.name, "x")]), ["$or": [["_id": 1], ["name": "x"]]]),
        (.all(of: [.where(.id, 1), .where(.name, "x")]), ["$and": [["_id": 1], ["name": "x"]]]),
        (.where(.id, 1).where("extra", .notEquals(nil)), ["_id": 1, "extra": ["$ne": nil]]),
        (.limit(2).where(.id, 1), ["$limit": 2, "_id": 1]),
    ]

    @Test("is the query its keys stand for", arguments: table.indices)
    func builds(row: Int) throws {
        let (typed, query) = Self.table[row]
        #expect(try typed.written(for: CodingOptions()) == query)
    }

    struct Draft: Codable, Queryable {
        var id: Int
        var secret: String

        enum CodingKeys: String, CodingKey { case id, secret }
        enum QueryKeys: String, CodingKey { case id, room }
    }

    @Test("names the properties a service can be asked for, where the model says which")
    func queryKeys() throws {
        #expect(
            try Query<Draft>.where(.room, "lobby").sorted(by: .id).written(for: CodingOptions()) == [
                "room": "lobby", "$sort": ["id": 1],
            ])
    }

    private static let seconds = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)

    @Test(
        "has the names and dates of the service's coding options, and what is raw as it is",
        arguments: [
            (
                .where(.isActive, true).where("address.city", .equals("Rome")),
                ["is_active": true, "address.city": "Rome"]
            ),
            (
                .where(.born, .greaterThanOrEqual(date)).sorted(by: .createdAt),
                ["born": ["$gte": 0], "$sort": ["created_at": 1]]
            ),
            (
                .where(.createdAt, .isIn([date])).where("isRaw", .equals(true)),
                ["created_at": ["$in": [0]], "isRaw": true]
            ),
            (.any(of: [.where(.createdAt, date), .where(.id, 1)]), ["$or": [["created_at": 0], ["_id": 1]]]),
            (.where(.createdAt, nil), ["created_at": nil]),
        ] as [(Query<Person>, Query<JSONValue>)])
    func coding(typed: Query<Person>, query: Query<JSONValue>) async throws {
        #expect(try typed.written(for: Self.seconds) == query)
        let stub = StubTransport { _ in [] }
        let app = FeathersApp(transport: stub)
        _ = try await app.service("people", of: Person.self, coding: Self.seconds).find(typed)
        var params = Params()
        params.coding = Self.seconds
        _ = try await app.service("people", of: Person.self).find(typed, params: params)
        app.coding = Self.seconds
        for try await _ in app.service("people", of: Person.self).pages(typed, of: 5) {}
        let requests = stub.requests.map(\.params.query)
        #expect(requests == [query, query, query.limit(5)])
    }

    @Test("names the model whose dates cannot be written")
    func unwritableDate() {
        let custom = CodingOptions(dates: .custom(encode: { _ in throw CancellationError() }, decode: { _ in .now }))
        #expect { try Query<Person>.where(.born, Self.date).written(for: custom) } throws: {
            FeathersError.Code.badRequest ~= $0 && "\($0)".contains("Person")
        }
    }

    @Test("reaches the service")
    func calls() async throws {
        let stub = StubTransport { _ in [] }
        let people = FeathersApp(transport: stub).service("people", of: Person.self)
        _ = try await people.find(.where(.isAdmin, true).limit(5))
        try await people.removeAll(query: .where(.kind, Kind.image))
        try await people.patchAll(query: .where(.name, "Ada"), with: ["city": "Roma"])
        for try await _ in people.pages(.where(.age, .greaterThanOrEqual(18))) {}
        #expect(
            stub.requests.map(\.params.query) == [
                ["is_admin": true, "$limit": 5], ["kind": "image"], ["name": "Ada"],
                ["age": ["$gte": 18.0], "$limit": 100],
            ])
    }
}

import FeathersCore
import FeathersJSONAPI
import Foundation
import Testing

@Suite("Models as documents", .timeLimit(.minutes(10)))
struct ModelEncodingTests {
    private let codec = JSONAPICodec()

    private struct Post: JSONAPIModel {
        static let type = "posts"
        static let readOnly: Set<String> = ["views", "editor"]
        var id: String?
        var lid: String?
        var title: String
        var subtitle: String?
        var views: Int?
        var score: Double = 0.5
        var flags: [Bool] = []
        var website: URL?
        var published: Date?
        var author: PlainPerson?
        var editor: PlainPerson?
        var comments: [PlainComment] = []
    }

    @Test("attributes and relationships go where they belong, read-only ones nowhere, nil properties neither")
    func shape() throws {
        let post = Post(
            id: "1", title: "T", views: 7, website: URL(string: "https://example.com/a"),
            published: Date(timeIntervalSince1970: 0),
            author: PlainPerson(id: "9", name: "Dan"), editor: PlainPerson(id: "8", name: "Eve"),
            comments: [PlainComment(id: "5")])
        #expect(
            try codec.document(of: post).json == [
                "data": [
                    "type": "posts", "id": "1",
                    "attributes": [
                        "title": "T", "score": 0.5, "flags": [], "website": "https://example.com/a",
                        "published": "1970-01-01T00:00:00.000Z",
                    ],
                    "relationships": [
                        "author": ["data": ["type": "people", "id": "9"]],
                        "comments": ["data": [["type": "comments", "id": "5"]]],
                    ],
                ]
            ])
    }

    @Test("keys inside of attributes are as the codec's options have them, whatever those of attributes are")
    func innerKeys() throws {
        struct Place: Codable, Equatable {
            var streetName: String
        }
        struct Event: JSONAPIModel, Equatable {
            static let type = "events"
            var id: String?
            var meetingPlace: Place
        }
        let codec = JSONAPICodec(keys: .dasherized, coding: CodingOptions(keys: .snakeCase))
        let event = Event(id: "1", meetingPlace: Place(streetName: "Elm"))
        let document = try codec.document(of: event)
        #expect(document.json["data"]?["attributes"] == ["meeting-place": ["street_name": "Elm"]])
        #expect(try codec.decode(Event.self, from: JSONAPIDocument(document.json)) == event)
    }

    @Test("an id given before the server gives one is sent; a local id stands in for none")
    func identity() throws {
        #expect(
            try codec.resource(of: Post(id: "own", lid: "a", title: "T")).identifier
                == JSONAPIIdentifier(type: "posts", id: "own"))
        #expect(
            try codec.resource(of: Post(lid: "a", title: "T")).identifier == JSONAPIIdentifier(type: "posts", lid: "a"))
        #expect(try codec.resource(of: Post(title: "T")).identifier == nil)
    }

    @Test("a target without an id is an error that names the relationship")
    func unsavedTarget() throws {
        let error = try #require(throws: JSONAPIError.self) {
            try codec.resource(of: Post(title: "T", author: PlainPerson(name: "New")))
        }
        #expect(error.pointer.text == "/data/relationships/author")
        let number = try #require(throws: JSONAPIError.self) { try codec.resource(of: Post(title: "T", score: .nan)) }
        #expect(number.pointer.text == "/data/attributes/score")
    }

    private struct Patch: JSONAPIModel, Equatable {
        static let type = "posts"
        var id: String
        var title = Presence<String>.absent
        var count = Presence<Int>.absent
        var author = ToOne<Person>()
        var tags = ToMany<Person>()
        var editor = Presence<Person>.absent
    }

    @Test(
        "what is absent, what is null and what has a value are three things, in attributes and relationships, both ways"
    )
    func presence() throws {
        func json(_ patch: Patch) throws -> JSONValue { try codec.resource(of: patch).json }
        #expect(try json(Patch(id: "1")) == ["type": "posts", "id": "1"])
        #expect(
            try json(Patch(id: "1", title: .null, count: .value(3), author: .empty, tags: .empty, editor: .null)) == [
                "type": "posts", "id": "1", "attributes": ["title": nil, "count": 3],
                "relationships": ["author": ["data": nil], "tags": ["data": []], "editor": ["data": nil]],
            ])
        for patch in [
            Patch(id: "1"), Patch(id: "1", title: .null, count: .value(3), author: .empty, tags: .empty, editor: .null),
            Patch(id: "1", title: .value("x"), author: ToOne(id: "9"), tags: ToMany(ids: ["1", "2"])),
        ] {
            let document = JSONAPIDocument(data: .one(try codec.resource(of: patch)))
            #expect(try codec.decode(Patch.self, from: JSONAPIDocument(document.json)) == patch)
        }
    }

    @Test("null empties a relationship to many resources with an empty list")
    func emptyLists() throws {
        struct Patch: JSONAPIModel {
            static let type = "posts"
            var id: String? = "1"
            var authors = Presence<ToMany<Person>>.null
            var editors = Presence<[Person]>.null
        }
        #expect(
            try codec.resource(of: Patch()).json == [
                "type": "posts", "id": "1", "relationships": ["authors": ["data": []], "editors": ["data": []]],
            ])
    }

    @Test("presence works with any coder")
    func presenceElsewhere() throws {
        struct Value: Codable, Equatable {
            var a = Presence<Int>.absent
            var b = Presence<Int>.null
            var c = Presence<Int>.value(1)
        }
        #expect(try JSONValueEncoder().encode(Value()) == ["b": nil, "c": 1])
        #expect(try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(Value())) == Value())
    }

    @Test("relationships of plain records are read too")
    func plainRecords() throws {
        let record: JSONValue = [
            "id": "1", "title": "A", "author": ["type": "people", "id": "9", "name": "Dan"],
            "comments": [["type": "comments", "id": "5", "body": "First!"], ["type": "comments", "id": "6"]],
        ]
        let article = try JSONValueDecoder().decode(Article.self, from: record)
        #expect(article.author.value?.name == "Dan")
        #expect(article.comments.identifiers?.map(\.id) == ["5", "6"])
        #expect(
            try JSONValueDecoder().decode(Article.self, from: ["title": "A", "author": nil]).author.linkage == .null)
    }
}

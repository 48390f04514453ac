import FeathersCore
import FeathersJSONAPI
import Foundation
import Testing

@Suite("Documents", .timeLimit(.minutes(10)))
struct JSONAPIDocumentTests {
    @Test("data missing, null, one and many are four things")
    func data() throws {
        #expect(try JSONAPIDocument(["meta": [:]]).data == nil)
        #expect(try JSONAPIDocument(["data": nil]).data == .null)
        #expect(
            try JSONAPIDocument(["data": ["type": "a", "id": "1"]]).data == .one(JSONAPIResource(type: "a", id: "1")))
        #expect(
            try JSONAPIDocument(["data": [["type": "a", "id": "1"]]]).data
                == .many([JSONAPIResource(type: "a", id: "1")]))
        #expect(try JSONAPIDocument(["data": []]).data == .many([]))
    }

    @Test("a relationship without data is not an empty one")
    func linkage() throws {
        let json: JSONValue = [
            "data": [
                "type": "a", "id": "1",
                "relationships": [
                    "none": ["links": ["related": "/a/1/none"]], "null": ["data": nil],
                    "one": ["data": ["type": "b", "lid": "x", "meta": ["m": 1]]],
                    "many": ["data": []], "odd": 7,
                ],
            ]
        ]
        let relationships = try #require(try JSONAPIDocument(json).data?.resources.first?.relationships)
        #expect(relationships["none"]?.linkage == nil)
        #expect(relationships["null"]?.linkage == .null)
        #expect(relationships["one"]?.linkage == .one(JSONAPIIdentifier(type: "b", lid: "x", meta: ["m": 1])))
        #expect(relationships["many"]?.linkage == .many([]))
        #expect(relationships["odd"] == nil)
        #expect(relationships.names == ["none", "null", "one", "many", "odd"])
    }

    @Test("links are texts, objects or null, and resolved against the URL of the request")
    func links() throws {
        let document = try JSONAPIDocument([
            "meta": [:],
            "links": [
                "self": "/a?x=1", "next": nil,
                "related": [
                    "href": "b", "rel": "r", "title": "t", "type": "text/html", "hreflang": ["en", "de"],
                    "describedby": "/d",
                    "meta": ["n": 1],
                ],
                "odd": 5,
            ],
        ])
        let base = URL(string: "https://example.com/v1/posts?page=1")
        #expect(document.links["self"] == .href("/a?x=1"))
        #expect(document.links["next"] == .null)
        #expect(document.links["prev"] == nil)
        #expect(document.links["odd"] == nil)
        #expect(document.links.url("self", relativeTo: base)?.absoluteString == "https://example.com/a?x=1")
        #expect(document.links.url("related", relativeTo: base)?.absoluteString == "https://example.com/v1/b")
        #expect(document.links.url("next", relativeTo: base) == nil)
        let related = try #require(document.links["related"])
        #expect(related.href == "b")
        #expect(related.json["hreflang"] == ["en", "de"])
    }

    @Test(
        "what may not stand in a URL is encoded in links, and nothing twice",
        arguments: [
            ("?page[number]=2&x=%2B&y=100%", "https://example.com/v1/posts?page%5Bnumber%5D=2&x=%2B&y=100%25"),
            ("/a b/é", "https://example.com/a%20b/%C3%A9"),
            ("http://[::1]:8080/x?a[b]", "http://[::1]:8080/x?a%5Bb%5D"), ("", "https://example.com/v1/posts?old=1"),
        ])
    func linkURLs(href: String, expected: String) {
        let base = URL(string: "https://example.com/v1/posts?old=1")
        #expect(JSONAPILinks(["self": .string(href)]).url("self", relativeTo: base)?.absoluteString == expected)
    }

    @Test("errors keep all their members")
    func errors() throws {
        let json: JSONValue = [
            "errors": [
                [
                    "id": "e1", "status": "422", "code": "c", "title": "t", "detail": "d",
                    "source": ["pointer": "/data/attributes/title", "parameter": "include", "header": "X-Y"],
                    "links": ["about": "/e1", "type": ["href": "/types/1"]], "meta": ["m": true],
                ], ["status": 409],
            ],
            "jsonapi": [
                "version": "1.1", "ext": ["https://jsonapi.org/ext/atomic"], "profile": ["p"], "meta": ["x": 1],
            ],
        ]
        let document = try JSONAPIDocument(json)
        let error = try #require(document.errors?.first)
        let source = try #require(error.source)
        #expect(source.pointer == "/data/attributes/title" && source.parameter == "include" && source.header == "X-Y")
        #expect(error.typeLinks == ["/types/1"])
        #expect(document.errors?.last?.status == "409")
        #expect(document.jsonapi?["ext"] == ["https://jsonapi.org/ext/atomic"])
        #expect(document.json["errors"]?[0] == json["errors"]?[0])
        #expect(document.json["jsonapi"] == json["jsonapi"])
    }

    @Test("what a reader must ignore is ignored, an extension's members are kept")
    func lenient() throws {
        let document = try JSONAPIDocument([
            "data": [
                "type": "a", "id": 5, "attributes": 3, "relationships": [], "links": "x", "@x": 1, "what": 2, "v:x": 3,
            ],
            "included": [1, ["id": "1"]],
            "@context": "x", "unknown": 1, "links": 5, "jsonapi": "1.0", "meta": nil, "version:id": "42",
        ])
        let resource = try #require(document.data?.resources.first)
        #expect(resource.id == "5")
        #expect(resource.attributes.isEmpty)
        #expect(resource.extensionMembers == ["v:x": 3])
        #expect(document.included == [])
        #expect(document.extensionMembers == ["version:id": "42"])
    }

    @Test(
        "what cannot be read is an error with its place",
        arguments: [
            ("[]", ""), ("{", ""), ("{}", ""), (#"{"links": {}}"#, ""), (#"{"data": 5}"#, "/data"),
            (#"{"data": {"id": "1"}}"#, "/data/type"),
            (#"{"data": [{"type": "a"}, 7]}"#, "/data/1"), (#"{"data": [{"type": "a"}, {"type": 7}]}"#, "/data/1/type"),
        ])
    func unreadable(text: String, pointer: String) throws {
        let error = try #require(throws: JSONAPIError.self) { try JSONAPIDocument(text: text) }
        #expect(error.pointer.text == pointer)
    }

    @Test("a document is written as it was read, its members in their order")
    func roundTrip() throws {
        let document = try JSONAPIDocument.example()
        #expect(try JSONAPIDocument(parsing: document.serialized()) == document)
    }

    @Test("writing is strict")
    func strict() throws {
        let error = try #require(throws: JSONAPIError.self) {
            try JSONAPIDocument(data: .one(JSONAPIResource(type: "a", attributes: ["x": 1]))).serialized()
        }
        #expect(error.pointer.text == "/data/id")
        #expect(throws: Never.self) {
            try JSONAPIDocument(data: .one(JSONAPIResource(type: "a"))).serialized(as: .creation)
        }
        #expect(throws: JSONAPIError.self) { try JSONAPIDocument(meta: ["x": .number(.nan)]).serialized() }
    }
}

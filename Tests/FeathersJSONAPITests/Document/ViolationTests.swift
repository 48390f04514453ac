import FeathersCore
import FeathersJSONAPI
import Testing

@Suite("What breaks the specification", .timeLimit(.minutes(10)))
struct ViolationTests {
    @Test(
        "is listed with its place, all of it",
        arguments: [
            ("[]", [""]), ("{}", [""]), (#"{"jsonapi": {}}"#, [""]),
            (#"{"data": null, "errors": []}"#, ["/errors"]),
            (#"{"meta": {}, "included": []}"#, ["/included"]),
            (#"{"data": 1}"#, ["/data"]),
            (#"{"data": null, "extra": 1, "@x": 2, "ext:y": 3}"#, ["/extra"]),
            (#"{"data": {}}"#, ["/data/type", "/data/id"]),
            (#"{"data": [{"type": 1, "id": 2}]}"#, ["/data/0/type", "/data/0/id"]),
            (#"{"data": {"type": "a", "id": "1", "foo": 1, "attributes": []}}"#, ["/data/foo", "/data/attributes"]),
            (
                #"""
                {"data": {"type": "a", "id": "1", "attributes": {"id": 1, "type": 2, "a+b": 3, "-x": 4, "@y": 5, \#
                "ü": 6, "a b": 7}}}
                """#,
                ["/data/attributes/id", "/data/attributes/type", "/data/attributes/a+b", "/data/attributes/-x"]
            ),
            (
                #"""
                {"data": {"type": "a", "id": "1", "attributes": {"x": 1}, \#
                "relationships": {"x": {}, "y": {"data": [1, {"type": "b"}]}, "z": 5}}}
                """#,
                [
                    "/data/relationships/x", "/data/relationships/x", "/data/relationships/y/data/0",
                    "/data/relationships/y/data/1/id",
                    "/data/relationships/z",
                ]
            ),
            (#"{"meta": 1, "links": []}"#, ["/links", "/meta"]),
            (
                #"{"meta": {}, "links": {"self": 1, "next": null, "foo": "x", "last": {"rel": 1, "hreflang": [1]}}}"#,
                ["/links/foo", "/links/self", "/links/last/href", "/links/last/rel", "/links/last/hreflang"]
            ),
            (
                #"{"errors": [{}, 1, {"status": 404, "source": {"pointer": "x"}, "links": {"self": "/"}}]}"#,
                ["/errors/0", "/errors/1", "/errors/2/status", "/errors/2/links/self", "/errors/2/source/pointer"]
            ),
            (
                #"""
                {"data": {"type": "a", "id": "1"}, "included": [{"type": "a", "id": "1"}, {"type": "b", "id": "2"}]}
                """#,
                ["/included/0", "/included/1"]
            ),
            (
                #"{"meta": {}, "jsonapi": {"version": 1, "ext": "x", "more": 1}}"#,
                ["/jsonapi/more", "/jsonapi/version", "/jsonapi/ext"]
            ),
            (
                #"{"meta": {}, "jsonapi": {"profile": ["https://a.org/p", "a/p", 1]}}"#,
                ["/jsonapi/profile/1", "/jsonapi/profile/2"]
            ),
            (
                #"""
                {"data": {"type": "a", "id": "1", \#
                "relationships": {"x": {"data": {"type": "b", "id": "2", "meta": 1}}}}}
                """#,
                ["/data/relationships/x/data/meta"]
            ),
        ])
    func listed(text: String, pointers: [String]) throws {
        let violations = JSONAPIDocument.violations(in: try JSONValue(parsing: text))
        #expect(violations.map(\.pointer.text).sorted() == pointers.sorted())
    }

    @Test(
        "is listed in batches and their results too",
        arguments: [
            ("[]", ["/atomic:operations"]), ("1", ["/atomic:operations"]),
            ("[1, {}]", ["/atomic:operations/0", "/atomic:operations/1/op"]),
            (
                #"[{"op": "replace", "href": 1, "path": "/x", "meta": 1}]"#,
                [
                    "/atomic:operations/0/path", "/atomic:operations/0/op", "/atomic:operations/0/href",
                    "/atomic:operations/0/meta",
                ]
            ),
            (
                #"[{"op": "remove", "ref": {"type": "a"}, "href": "/a"}]"#,
                ["/atomic:operations/0/ref", "/atomic:operations/0/ref/id"]
            ),
            (
                #"[{"op": "remove", "ref": {"type": "a", "id": "1", "lid": "x", "relationship": 1}}]"#,
                ["/atomic:operations/0/ref/relationship", "/atomic:operations/0/ref/lid"]
            ),
            (
                #"""
                [{"op": "add", "data": {"type": "a", "attributes": {"a+b": 1}}}, \#
                {"op": "update", "data": {"type": "a"}}]
                """#,
                ["/atomic:operations/0/data/attributes/a+b", "/atomic:operations/1/data/id"]
            ),
            (
                #"[{"op": "add", "ref": {"type": "a", "id": "1", "relationship": "b"}, "data": [{"type": "b"}]}]"#,
                ["/atomic:operations/0/data/0/id"]
            ),
            (
                #"""
                [{"op": "add", "data": {"type": "a", "lid": "x"}}, {"op": "update", "data": {"type": "a", "lid": "x"}},
                 {"op": "update", "href": "/a/1/relationships/b", "data": null},
                {"op": "remove", "ref": {"type": "a", "lid": "x"}, "@x": 1}]
                """#, []
            ),
        ])
    func operations(text: String, pointers: [String]) throws {
        let document: JSONValue = ["atomic:operations": try JSONValue(parsing: text)]
        #expect(JSONAPIDocument.violations(in: document).map(\.pointer.text).sorted() == pointers.sorted())
    }

    @Test("is listed beside operations and in results")
    func results() {
        let violations = JSONAPIDocument.violations(in: [
            "atomic:results": [1, ["data": ["type": "a"]], [:]], "data": nil, "errors": [], "atomic:operations": [],
        ])
        #expect(
            Set(violations.map(\.pointer.text)) == [
                "/data", "/errors", "/atomic:results", "/atomic:operations", "/atomic:results/0",
                "/atomic:results/1/data/id",
            ])
    }

    @Test(
        "is a link that is no URL",
        arguments: [
            "a b", "http://example.com/ä", "/a%2", "/a%zz", "/a#b#c", "<x>", "/a\\b", "1a:b", ":b", "/\u{7}",
        ])
    func noURLs(text: String) {
        let link = JSONValue.string(text)
        let links: JSONValue = ["self": link, "next": ["href": link], "last": ["href": "/", "describedby": link]]
        let document: JSONValue = ["meta": [:], "links": links]
        #expect(
            JSONAPIDocument.violations(in: document).map(\.pointer.text) == [
                "/links/self", "/links/next/href", "/links/last/describedby",
            ])
    }

    @Test(
        "is no link that is a URL, a relative one too",
        arguments: [
            "", "/", "?page[number]=2", "#top", "a/b:c", "../x", "//example.com", "http://[::1]:8080/a?b=c%20d#e",
            "mailto:a@example.com",
        ])
    func urls(text: String) {
        let link = JSONValue.string(text)
        #expect(
            JSONAPIDocument.violations(in: ["meta": [:], "links": ["self": link, "next": ["href": link]]]).isEmpty)
    }

    @Test("is what a link object says of its target in a form of its own")
    func linkObjects() {
        func violations(_ name: String, _ value: JSONValue) -> [String] {
            var link: JSONValue = ["href": "/"]
            link[name] = value
            return JSONAPIDocument.violations(in: ["meta": [:], "links": ["self": link]]).map(\.pointer.text)
        }
        for relation in ["next", "version-history", "https://example.com/rel"] {
            #expect(violations("rel", .string(relation)) == [])
        }
        for relation in ["", "two words", "Next", "1"] {
            #expect(violations("rel", .string(relation)) == ["/links/self/rel"])
        }
        for language: JSONValue in ["en", "pt-BR", ["de", "sr-Latn-RS"], []] {
            #expect(violations("hreflang", language) == [])
        }
        for language: JSONValue in ["", "norwegianish", "en_US", "1", ["de", ""], nil] {
            #expect(violations("hreflang", language) == ["/links/self/hreflang"])
        }
    }

    @Test("is nothing in the example of the specification")
    func example() throws {
        #expect(try JSONAPIDocument.example().violations() == [])
    }

    @Test("is another thing in requests")
    func requests() {
        let resource = JSONAPIResource(
            type: "a", relationships: ["x": JSONAPIRelationship(links: JSONAPILinks(["self": "/"]))])
        let document = JSONAPIDocument(data: .one(resource))
        #expect(document.violations(as: .creation).map(\.pointer.text) == ["/data/relationships/x/data"])
        #expect(document.violations(as: .update).map(\.pointer.text) == ["/data/id", "/data/relationships/x/data"])
        #expect(JSONAPIDocument(data: .null).violations(as: .creation).map(\.pointer.text) == ["/data"])
        #expect(JSONAPIDocument(data: .null).violations(as: .relationship).isEmpty)
        #expect(
            JSONAPIDocument(data: .many([resource])).violations(as: .relationship).map(\.pointer.text) == [
                "/data/0/relationships", "/data/0/id",
            ])
    }

    @Test("is a request without data", arguments: [JSONAPIDocument.Role.creation, .update, .relationship])
    func requestsWithoutData(role: JSONAPIDocument.Role) {
        let document = JSONAPIDocument(meta: ["n": 1])
        #expect(document.violations(as: role).map(\.pointer.text) == ["/data"])
        #expect(throws: JSONAPIError.self) { try document.serialized(as: role) }
        #expect(document.violations().isEmpty)
        #expect(
            JSONAPIDocument.violations(in: ["atomic:operations": [["op": "remove", "href": "/a/1"]]], as: role).isEmpty)
    }

    @Test("is no missing link where fieldsets are sparse")
    func sparse() throws {
        let document = JSONAPIDocument(
            data: .one(JSONAPIResource(type: "a", id: "1")), included: [JSONAPIResource(type: "b", id: "2")])
        #expect(document.violations(as: .sparseResponse).isEmpty)
        #expect(!document.violations().isEmpty)
    }
}

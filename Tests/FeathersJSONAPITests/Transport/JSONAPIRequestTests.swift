import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Testing

@Suite("JSON:API requests", .timeLimit(.minutes(10)))
struct JSONAPIRequestTests {
    private let resource = #"{"data": {"type": "posts", "id": "1"}}"#

    @Test("the Feathers methods have their verbs, paths and bodies")
    func verbs() async throws {
        let server = try SeamServer(
            .init(#"{"data": []}"#), .init(resource), .init(resource, status: 201), .init(resource),
            .init("", status: 204))
        let posts = server.app.service("posts")
        _ = try await posts.find()
        _ = try await posts.get("a/b")
        try await posts.create([
            "title": "T", "author": ["type": "people", "id": "9", "name": "Dan"],
            "comments": [["type": "comments", "id": "5"]],
        ])
        try await posts.patch(1, with: ["title": nil])
        try await posts.remove("1")
        #expect(
            server.lines == [
                "GET /v1/posts", "GET /v1/posts/a%2Fb", "POST /v1/posts", "PATCH /v1/posts/1", "DELETE /v1/posts/1",
            ])
        #expect(server.bodies[0] == nil && server.bodies[1] == nil && server.bodies[4] == nil)
        #expect(
            server.bodies[2] == [
                "data": [
                    "type": "posts", "attributes": ["title": "T"],
                    "relationships": [
                        "author": ["data": ["type": "people", "id": "9"]],
                        "comments": ["data": [["type": "comments", "id": "5"]]],
                    ],
                ]
            ])
        #expect(server.bodies[3] == ["data": ["type": "posts", "id": "1", "attributes": ["title": nil]]])
    }

    @Test("media types: Accept on every request, Content-Type with a document alone, parameters where they apply")
    func mediaTypes() async throws {
        func fields(_ options: JSONAPIOptions) async throws -> [String?] {
            let server = try SeamServer(.init(resource), options: options)
            _ = try await server.app.service("posts").get("1")
            try await server.app.service("posts").create([:])
            return server.client.requests.flatMap { [$0.headers["Accept"], $0.headers["Content-Type"]] }
        }
        let plain = "application/vnd.api+json"
        #expect(try await fields(JSONAPIOptions()) == [plain, nil, plain, plain])
        let ext = #"application/vnd.api+json;ext="https://a https://b""#
        #expect(try await fields(JSONAPIOptions(extensions: ["https://a", "https://b"])) == [ext, nil, ext, ext])
        let profile = #"application/vnd.api+json;profile="https://p""#
        #expect(
            try await fields(JSONAPIOptions(profiles: ["https://p"])) == [
                "\(profile), \(plain)", nil, "\(profile), \(plain)", profile,
            ])
    }

    @Test("header fields: a call's own win over the app's")
    func headers() async throws {
        let server = try SeamServer(.init(resource), headers: ["X-A": "app", "X-B": "app"])
        _ = try await server.app.service("posts").get("1", params: Params(headers: ["x-a": "call"]))
        let headers = try #require(server.client.requests.first?.headers)
        #expect(headers["X-A"] == "call")
        #expect(headers["X-B"] == "app")
    }

    @Test("ids given here are sent, and made where the options say so")
    func clientIDs() async throws {
        let server = try SeamServer(.init("", status: 204), options: JSONAPIOptions(makeID: { "made-for-\($0)" }))
        let posts = server.app.service("posts")
        let record = try await posts.create(["id": "own"])
        try await posts.create(["title": "T"])
        #expect(server.bodies.map { $0?["data"]?["id"] } == ["own", "made-for-posts"])
        #expect(record["id"] == "own")
    }

    @Test("what stands beside the fields of a record, and targets inside relationships, are not sent back")
    func recordsGoBack() async throws {
        let server = try SeamServer(
            .init(
                #"""
                {"data": {"type": "posts", "id": "1", "attributes": {"title": "T"},
                    "links": {"self": "/posts/1"}, "meta": {"n": 1}, "relationships": {
                        "author": {"data": null, "links": {"self": "/x"}}, "tags": {"data": []},
                        "likes": {"links": {"related": "/l"}}}}}
                """#), .init("", status: 204))
        let posts = server.app.service("posts")
        let record = try await posts.get("1")
        try await posts.patch("1", with: record)
        #expect(
            server.bodies[1] == [
                "data": [
                    "type": "posts", "id": "1", "attributes": ["title": "T"], "meta": ["n": 1],
                    "relationships": ["author": ["data": nil], "tags": ["data": []]],
                ]
            ])
    }

    @Test("null and empty relationships of plain records are told by the options")
    func knownRelationships() async throws {
        let server = try SeamServer(
            .init("", status: 204), options: JSONAPIOptions(relationships: ["posts": ["author", "tags"]]))
        try await server.app.service("posts").patch("1", with: ["author": nil, "tags": [], "list": []])
        #expect(server.bodies[0]?["data"]?["relationships"] == ["author": ["data": nil], "tags": ["data": []]])
        #expect(server.bodies[0]?["data"]?["attributes"] == ["list": []])
    }

    @Test("types are those of the paths, unless the options know better")
    func types() async throws {
        let server = try SeamServer(
            .init("", status: 204), options: JSONAPIOptions(types: ["people/:id/notes": "remarks"]))
        try await server.app.service("people/:id/notes").create([:], params: Params(route: ["id": "a b"]))
        try await server.app.service("v2/users").create([:])
        #expect(server.lines == ["POST /v1/people/a%20b/notes", "POST /v1/v2/users"])
        #expect(server.bodies.map { $0?["data"]?["type"] } == ["remarks", "users"])
    }

    @Test(
        "what JSON:API has no form for is refused before anything is sent",
        arguments: [
            (
                ServiceRequest(path: "posts", method: .update, id: "1", data: [:]), FeathersError.Code.methodNotAllowed,
                "'patch'"
            ),
            (ServiceRequest(path: "posts", method: "archive", data: [:]), .methodNotAllowed, "'archive'"),
            (ServiceRequest(path: "posts", method: .create, data: [[:], [:]]), .methodNotAllowed, "Atomic Operations"),
            (ServiceRequest(path: "posts", method: .patch, data: [:]), .methodNotAllowed, "Atomic Operations"),
            (ServiceRequest(path: "posts", method: .remove), .methodNotAllowed, "Atomic Operations"),
            (ServiceRequest(path: "posts", method: .get), .badRequest, "id"),
            (ServiceRequest(path: "posts", method: .get, id: ".."), .badRequest, "'..'"),
            (ServiceRequest(path: "posts", method: .create, data: "text"), .badRequest, "object"),
            (ServiceRequest(path: "posts", method: .create, data: ["a+b": 1]), .badRequest, "/data/attributes/a+b"),
            (ServiceRequest(path: "posts", method: .create, data: ["id": true]), .badRequest, "/data/id"),
            (
                ServiceRequest(
                    path: "posts", method: .create, data: ["author": ["type": "people", "id": "9", "meta": 5]]),
                .badRequest,
                "/data/relationships/author/meta"
            ),
        ])
    func refused(request: ServiceRequest, code: FeathersError.Code, words: String) async throws {
        let server = try SeamServer(.init(resource))
        let error = try await #require(throws: FeathersError.self) { try await server.app.transport?.send(request) }
        #expect(error.code == code)
        #expect(error.execution == .neverSent)
        #expect(error.message.contains(words))
        #expect(server.lines.isEmpty)
    }
}

import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Testing

@Suite("JSON:API answers", .timeLimit(.minutes(10)))
struct JSONAPIAnswerTests {
    private func posts(_ answer: SeamHTTPClient.Answer) throws -> Service<JSONValue> {
        try SeamServer(answer).app.service("posts")
    }

    @Test("records hold attributes, relationships and what came along; a page its total")
    func records() async throws {
        let text = try JSONAPIDocument.example().json.description
        let page = try await SeamServer(.init(text)).app.service("articles").find(.limit(10))
        #expect(page.total == 30)
        #expect(page.limit == 10)
        #expect(page.skip == 0)
        #expect(page.extra["@document"]?["links"]?["next"] == "/articles?page[offset]=2")
        let article = try #require(page.first)
        #expect(article["title"] == "JSON:API paints my bikeshed!")
        #expect(article["author"]?["name"] == "Dan")
        // Cut where the circle closes, and where nothing came along.
        #expect(article["author"]?["articles"] == [["type": "articles", "id": "1"], ["type": "articles", "id": "2"]])
        #expect(article["comments"]?[0]?["author"] == ["type": "people", "id": "2"])
        #expect(article["@relationships"]?["author"]?["links"] == ["self": "/articles/1/relationships/author"])
        #expect(article["@links"] == ["self": "http://example.com/articles/1"])
    }

    @Test("what was asked to come along is put inside, and nothing else")
    func includePaths() async throws {
        let text = try JSONAPIDocument.example().json.description
        let page = try await SeamServer(.init(text)).app.service("articles").find(.including("comments.author"))
        let article = try #require(page.first)
        #expect(article["author"] == ["type": "people", "id": "9"])
        #expect(article["comments"]?[1]?["author"]?["name"] == "Dan")
    }

    @Test("the whole document is in the response, for models too")
    func documentInResponse() async throws {
        let data = #"{"type": "articles", "id": "1", "attributes": {"title": "T"}}"#
        let text = #"{"data": \#(data), "meta": {"n": 1}, "jsonapi": {"version": "1.1"}}"#
        let articles = try SeamServer(.init(text)).app.jsonAPI(Article.self)
        let response = try await articles.service.respond(to: ServiceRequest(path: "articles", method: .get, id: "1"))
        let document = try #require(response[JSONAPIDocument.self])
        #expect(document.meta == ["n": 1] && document.jsonapi == ["version": "1.1"])
        #expect(try response.decode(Article.self, coding: articles.codec).title == "T")
        let removed = try SeamServer(.init("", status: 204)).app.service("articles")
        let empty = try await removed.respond(to: ServiceRequest(path: "articles", method: .remove, id: "1"))
        #expect(empty[JSONAPIDocument.self] == nil)
    }

    @Test("a document is read behind a byte order mark")
    func byteOrderMark() async throws {
        #expect(try await posts(.init("\u{FEFF}" + #"{"data": []}"#)).find().isEmpty)
    }

    @Test("a collection without a total is a page all the same")
    func noTotal() async throws {
        let page = try await posts(.init(#"{"data": []}"#)).find()
        #expect(page.isEmpty && page.total == nil)
    }

    @Test(
        "a change the server only agrees to gives what was sent",
        arguments: [
            SeamHTTPClient.Answer("", status: 204), .init("", status: 201), .init(#"{"meta": {"n": 1}}"#),
            .init(#"{"meta": {}}"#, status: 202),
            .init("", status: 202),
        ])
    func agreed(answer: SeamHTTPClient.Answer) async throws {
        let created = try await posts(answer).create(["id": "1", "title": "T"])
        #expect(created["title"] == "T" && created["id"] == "1" && created["type"] == "posts")
        #expect(created["@document"]?["isSent"] == true)
        let patched = try await posts(answer).patch("7", with: ["title": "T"])
        #expect(patched["title"] == "T" && patched["id"] == "7")
        #expect(try await posts(answer).remove("7")?["id"] == "7")
    }

    @Test("where the server puts what it made, and how an accepted call goes on, stands with the result")
    func locations() async throws {
        let created = try await posts(
            .init(
                #"{"data": {"type": "posts", "id": "9"}, "meta": {"n": 1}}"#, status: 201,
                headers: [("location", "/v1/posts/9")])
        ).create([:])
        #expect(created["id"] == "9")
        #expect(created["@document"]?["location"] == "https://example.com/v1/posts/9")
        #expect(created["@document"]?["meta"] == ["n": 1])
        let accepted = try await posts(
            .init(
                #"{"data": {"type": "jobs", "id": "5"}}"#, status: 202,
                headers: [("Content-Location", "/jobs/5"), ("Retry-After", "30")])
        ).create([:])
        #expect(accepted["type"] == "jobs")
        #expect(accepted["@document"]?["contentLocation"] == "https://example.com/jobs/5")
        #expect(accepted["@document"]?["retryAfter"] == "30")
        #expect(accepted["@document"]?["status"] == 202)
    }

    @Test("errors keep their status, all their objects and the document's meta")
    func errors() async throws {
        let body = #"""
            {"errors": [
              {"status": "422", "title": "Invalid", "detail": "Too short",
                "source": {"pointer": "/data/attributes/title"}, "x": 1},
              {"code": "c", "source": {"header": "X-Y"}}], "meta": {"trace": "t"}}
            """#
        let error = try await #require(throws: FeathersError.self) {
            try await posts(.init(body, status: 400)).create([:])
        }
        #expect(error.code == .badRequest)
        #expect(error.message == "Too short (and 1 more)")
        #expect(error.jsonAPIErrors.map(\.source?.pointer) == ["/data/attributes/title", nil])
        #expect(error.jsonAPIErrors.map(\.source?.header) == [nil, "X-Y"])
        #expect(error.data == ["meta": ["trace": "t"]])
        #expect(error.response == nil)
    }

    @Test("an error knows how long the server asks to wait", arguments: [#"{"errors": [{"status": "429"}]}"#, "busy"])
    func retryAfter(body: String) async throws {
        let posts = try posts(.init(body, status: 429, headers: [("Retry-After", "30")]))
        await #expect {
            try await posts.find()
        } throws: {
            FeathersError.Code.tooManyRequests ~= $0 && ($0 as? FeathersError)?.retryAfter == .seconds(30)
        }
    }

    @Test("errors make a failure of any status")
    func errorsOfSuccess() async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await posts(.init(#"{"errors": [{"status": "409"}]}"#)).find()
        }
        #expect(error.code == .conflict)
        #expect(error.jsonAPIErrors.count == 1)
    }

    @Test(
        "failures without a JSON:API document keep status and body",
        arguments: [(404, "<html>"), (406, ""), (415, "{}"), (500, #"{"message": "x"}"#), (502, "")])
    func foreign(status: Int, body: String) async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await posts(.init(body, status: status)).get("1")
        }
        #expect(error.code.rawValue == status)
        #expect(error.response == FeathersError.Response(status: status, body: Array(body.utf8)))
    }

    @Test(
        "successes that are none keep status and body",
        arguments: ["", "{}", #"{"meta": {}}"#, #"{"data": 5}"#])
    func empty(body: String) async throws {
        for call in ["find", "get"] {
            let error = try await #require(throws: FeathersError.self) {
                if call == "find" {
                    _ = try await posts(.init(body)).find()
                } else {
                    _ = try await posts(.init(body)).get("1")
                }
            }
            #expect(error.code == .generalError)
            #expect(error.response == FeathersError.Response(status: 200, body: Array(body.utf8)))
        }
    }

    @Test(
        "the page of a captive portal tells nothing about the call",
        arguments: [(200, "<html>"), (201, "Welcome"), (302, ""), (511, "<html>"), (511, #"{"error":"sign in"}"#)])
    func portals(status: Int, body: String) async throws {
        let posts = try posts(.init(body, status: status))
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await posts.find() }, { _ = try await posts.create(["title": "a"]) },
            { _ = try await posts.patch("1", with: ["title": "a"]) }, { _ = try await posts.remove("1") },
        ]
        for call in calls {
            let error = try await #require(throws: FeathersError.self) { try await call() }
            #expect(error.code == .unavailable && error.execution == .mayHaveExecuted)
            #expect(error.response == FeathersError.Response(status: status, body: Array(body.utf8)))
        }
    }

    @Test("a resource that is null is not found")
    func null() async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await posts(.init(#"{"data": null}"#)).get("1")
        }
        #expect(error.code == .notFound)
    }

    @Test("parameters of the answer's media type change nothing")
    func mediaType() async throws {
        let answer = SeamHTTPClient.Answer(
            #"{"data": {"type": "posts", "id": "1"}}"#,
            headers: [("Content-Type", "application/vnd.api+json; charset=utf-8; profile=\"x\"")])
        #expect(try await posts(answer).get("1")["id"] == "1")
    }

    @Test("an answer that is held already need not come again")
    func conditional() async throws {
        let server = try SeamServer(
            .init(#"{"data": {"type": "posts", "id": "1"}}"#, headers: [("ETag", "\"a\"")]), .init("", status: 304))
        func read(_ held: HeldResponse?) async throws -> ServiceResponse {
            var params = Params()
            params.heldResponse = held
            let request = ServiceRequest(path: "posts", method: .get, id: "1", params: params)
            return try await server.app.service("posts").respond(to: request)
        }
        let answered = try await read(nil)
        let (first, tag) = (answered.result, try #require(answered[EntityTag.self]))
        #expect(answered[NotModified.self] == nil)
        let unmodified = try await read(HeldResponse(entityTag: tag, value: first))
        #expect(unmodified[NotModified.self] == true)
        let second = unmodified.result
        #expect(first == second)
        #expect(server.client.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\""])
    }
}

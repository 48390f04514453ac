import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import FeathersTesting
import Foundation
import Testing

@Suite("JSON:API without a server", .timeLimit(.minutes(10)))
struct JSONAPIStubTests {
    @Test("an HTTP client of stubs stands below the transport")
    func below() async throws {
        let http = StubHTTPClient()
        let url = try #require(URL(string: "https://example.com/v1"))
        let articles = FeathersApp(transport: .jsonAPI(url, httpClient: http)).jsonAPI(Article.self)
        http.stub("/v1/articles", "GET", with: .json(try JSONAPIDocument.example().json))
        http.stub("/v1/articles", "POST", with: .status(204))
        http.stub("/v1/articles/7", "GET", with: .json(["errors": [["status": "404", "detail": "None"]]], status: 404))
        http.stub("/v1/articles/8", "GET", with: .refusal(FeathersError(.forbidden, "Log in first")))
        #expect(try await articles.find().first?.author.value?.name == "Dan")
        #expect(try await articles.create(Article(id: "9", title: "T")).title == "T")
        #expect(
            http.calls(to: "/v1/articles", "POST").first?.request.headers["Content-Type"] == "application/vnd.api+json")
        await #expect { try await articles.get("7") } throws: {
            ($0 as? FeathersError)?.jsonAPIErrors.first?.detail == "None"
        }
        // An error that is no JSON:API keeps its status.
        await #expect { try await articles.get("8") } throws: { FeathersError.Code.forbidden ~= $0 }
        await #expect { try await articles.get("10") } throws: { "\($0)".contains("/v1/articles/10") }
    }

    @Test("a stub transport stands in the place of the transport: it gives and gets plain records")
    func inPlace() async throws {
        let transport = StubTransport()
        let app = FeathersApp(transport: transport)
        let articles = app.jsonAPI(Article.self)
        transport.stub(
            "articles", .get,
            with: .value([
                "id": "1", "type": "articles", "title": "T", "author": ["type": "people", "id": "9", "name": "Dan"],
                "comments": [["type": "comments", "id": "5"]],
            ]))
        transport.stub("articles", .find, with: .value(["total": 1, "data": [["id": "1", "title": "T"]]]))
        transport.stub("articles", .custom("addToRelationship"), with: .value([:]))
        transport.stub(
            "operations", .custom("runOperations"), with: .value([["type": "articles", "id": "2", "title": "B"], [:]]))
        let article = try await articles.get("1")
        #expect(article.author.value?.name == "Dan" && article.comments.identifiers?.map(\.id) == ["5"])
        let page = try await articles.find()
        #expect(page.map(\.title) == ["T"] && page.total == 1 && !page.hasNext)
        try await articles.relationship("comments", ofID: "1").add([JSONAPIIdentifier(type: "comments", id: "6")])
        var batch = JSONAPIBatch()
        try batch.add(Article(title: "B"))
        batch.remove(JSONAPIIdentifier(type: "people", id: "8"))
        let results = try await app.send(batch)
        #expect(try results[0].decode(Article.self).id == "2")
        #expect(results[1].record == nil)
        #expect(
            transport.calls(of: "articles", .custom("addToRelationship")).first?.request.data == [
                "id": "1", "relationship": "comments", "data": [["type": "comments", "id": "6"]],
            ])
    }
}

import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Testing

@Suite("Relationships on the server", .timeLimit(.minutes(10)))
struct RelationshipTests {
    private let comments = [JSONAPIIdentifier(type: "comments", id: "5"), JSONAPIIdentifier(type: "comments", id: "6")]

    @Test("are read, replaced, added to and removed from")
    func changes() async throws {
        let server = try SeamServer(
            .init(#"{"data": [{"type": "comments", "id": "5"}], "links": {"self": "/x"}, "meta": {"n": 1}}"#),
            .init("", status: 204))
        let relationship = server.app.jsonAPI(Article.self).relationship("comments", ofID: "1")
        let read = try await relationship.get()
        #expect(read.linkage == .many([comments[0]]) && read.meta == ["n": 1])
        #expect(try await relationship.replace(with: comments).linkage == .many(comments))
        try await relationship.add(comments)
        try await relationship.remove(comments)
        try await relationship.replace(with: [])
        try await server.app.jsonAPI(Article.self).relationship("author", ofID: 1).replace(with: nil)
        let path = "/v1/articles/1/relationships/comments"
        #expect(
            server.lines == [
                "GET \(path)", "PATCH \(path)", "POST \(path)", "DELETE \(path)", "PATCH \(path)",
                "PATCH /v1/articles/1/relationships/author",
            ])
        let list: JSONValue = ["data": [["type": "comments", "id": "5"], ["type": "comments", "id": "6"]]]
        #expect(server.bodies == [nil, list, list, list, ["data": []], ["data": nil]])
        #expect(
            server.client.requests.map { $0.headers["Content-Type"] != nil } == [false, true, true, true, true, true])
    }

    @Test("are where the server's links say, within its origin")
    func links() async throws {
        let server = try SeamServer(.init(#"{"data": null}"#))
        let articles = server.app.jsonAPI(Article.self)
        let links = JSONAPILinks(["self": "/v1/own/self", "related": "https://example.com/v1/own/related?x=1"])
        let relationship = articles.relationship("author", ofID: "1", links: links)
        #expect(try await relationship.get().linkage == .null)
        #expect(try await relationship.related(Person.self, query: .including("articles")) == nil)
        #expect(server.lines == ["GET /v1/own/self", "GET /v1/own/related?x=1&include=articles"])
        let foreign = articles.relationship("author", ofID: "1", links: JSONAPILinks(["self": "https://evil.example/"]))
        await #expect(throws: FeathersError.self) { try await foreign.get() }
        #expect(server.lines.count == 2)
    }

    @Test("are loaded where that has not happened, and not otherwise")
    func load() async throws {
        let server = try SeamServer(
            .init(#"{"data": {"type": "people", "id": "9", "attributes": {"name": "Dan"}}}"#),
            .init(#"{"data": [{"type": "comments", "id": "5", "attributes": {"body": "x"}}]}"#))
        let articles = server.app.jsonAPI(Article.self)
        let dan = Person(id: "9", name: "Dan")
        var article = Article(id: "1", title: "T", author: ToOne(dan), comments: .empty)
        #expect(try await articles.load("author", article.author, of: article) == dan)
        #expect(try await articles.load("comments", article.comments, of: article) == [])
        #expect(server.lines.isEmpty)
        article.author = ToOne(id: "9")
        article.comments = ToMany()
        #expect(try await articles.load("author", article.author, of: article) == dan)
        #expect(try await articles.load("comments", article.comments, of: article).map(\.body) == ["x"])
        #expect(server.lines == ["GET /v1/articles/1/author", "GET /v1/articles/1/comments"])
        article.id = nil
        await #expect(throws: FeathersError.self) { try await articles.load("author", ToOne<Person>(), of: article) }
    }

    @Test("that are not there are not found")
    func notFound() async throws {
        let server = try SeamServer(.init(#"{"errors": [{"status": "404", "title": "No article"}]}"#, status: 404))
        let error = try await #require(throws: FeathersError.self) {
            try await server.app.jsonAPI(Article.self).relationship("author", ofID: "1").get()
        }
        #expect(error.code == .notFound && error.message == "No article")
    }
}

import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import FeathersSupport
import Foundation
import Testing

@Suite("Hooks around JSON:API calls", .timeLimit(.minutes(10)))
struct JSONAPIHookTests {
    @Test("before the call they change query, data and header fields, after it the record, around it they see both")
    func sides() async throws {
        let server = try SeamServer(
            .init(
                #"{"data": {"type": "articles", "id": "1", "attributes": {"title": "T"}}, "meta": {"a": 1}}"#,
                status: 201))
        let articles = server.app.service("articles")
        let seen = Locked<[String]>([])
        await articles.use(
            hooks: Hooks(
                around: [
                    { context, next in
                        seen.withLock { $0.append("\(context.method) \(context.data?["title"]?.string ?? "-")") }
                        try await next(&context)
                        seen.withLock {
                            $0.append(
                                context.result?["@document"]?["meta"]?["a"] == 1 ? "with its document" : "without")
                        }
                    }
                ],
                before: [
                    .create: [
                        { context in
                            context.data?["title"] = "from a hook"
                            context.params.query = context.params.query.including("author")
                            context.params.headers["X-Hook"] = "yes"
                        }
                    ]
                ],
                after: [.create: [{ $0.result?["title"] = "after" }]]))
        #expect(try await server.app.jsonAPI(Article.self).create(Article(title: "mine")).title == "after")
        #expect(seen.withLock { $0 } == ["create mine", "with its document"])
        #expect(server.lines == ["POST /v1/articles?include=author"])
        #expect(server.bodies[0]?["data"]?["attributes"] == ["title": "from a hook"])
        #expect(server.client.requests[0].headers["X-Hook"] == "yes")
    }

    @Test(
        "error hooks get the server's error objects and may answer instead; a before hook may answer without a request"
    )
    func answers() async throws {
        let server = try SeamServer(.init(#"{"errors": [{"code": "gone"}]}"#, status: 410))
        await server.app.service("articles").use(
            hooks: Hooks(
                before: [.find: [{ $0.result = ["total": 0, "data": []] }]],
                error: [
                    .get: [
                        { context in
                            guard (context.error as? FeathersError)?.jsonAPIErrors.first?.code == "gone" else { return }
                            context.result = ["type": "articles", "id": "1", "title": "kept"]
                        }
                    ]
                ]))
        let articles = server.app.jsonAPI(Article.self)
        #expect(try await articles.get("1").title == "kept")
        #expect(try await articles.find().total == 0)
        #expect(server.lines == ["GET /v1/articles/1"])
    }

    @Test("relationships, followed links and batches go through hooks as the custom methods they are")
    func customMethods() async throws {
        let server = try SeamServer(.init("", status: 204), options: JSONAPIOptions(operationsPath: "operations"))
        let seen = Locked<[String]>([])
        server.app.use(
            hooks: Hooks(before: [{ context in seen.withLock { $0.append("\(context.path) \(context.method)") } }]))
        let comments = server.app.jsonAPI(Article.self).relationship("comments", ofID: "1")
        let five = [JSONAPIIdentifier(type: "comments", id: "5")]
        try await comments.add(five)
        try await comments.remove(five)
        try await comments.replace(with: five)
        _ = try await comments.get()
        var batch = JSONAPIBatch()
        batch.remove(JSONAPIIdentifier(type: "people", id: "8"))
        try await server.app.send(batch)
        #expect(
            seen.withLock { $0 } == [
                "articles addToRelationship", "articles removeFromRelationship", "articles replaceRelationship",
                "articles getRelationship",
                "operations runOperations",
            ])
    }
}

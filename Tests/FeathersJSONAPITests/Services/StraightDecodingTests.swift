import FeathersCore
import FeathersJSONAPI
import FeathersSupport
import Foundation
import TestBackend
import Testing

/// Services with a model decode it from a document. A hook that sets the result leaves them its plain records instead:
/// both ways end alike.
@Suite("Models from a document and from plain records", .timeLimit(.minutes(10)))
struct StraightDecodingTests {
    private typealias Answer = SeamHTTPClient.Answer

    /// Makes a call twice, the second time with a hook that sets the result, and returns both results or errors in
    /// words.
    private func bothWays<Model: JSONAPIModel>(
        _ answer: Answer, as model: Model.Type, codec: JSONAPICodec = JSONAPICodec(),
        _ call: @Sendable (JSONAPIService<Model>) async throws -> String
    ) async throws -> (straight: String, byRecords: String, isDirect: Bool) {
        let isDirect = Locked(false)
        let straight = try SeamServer(answer, codec: codec)
        straight.app.use(
            hooks: Hooks(after: [{ context in isDirect.withLock { $0 = context.response?.deferredResult != nil } }]))
        let byRecords = try SeamServer(answer, codec: codec)
        byRecords.app.use(
            hooks: Hooks(after: [
                { context in
                    let result = context.result
                    context.result = result
                }
            ]))
        func described(_ server: SeamServer) async -> String {
            do {
                return try await call(server.app.jsonAPI(model, at: "articles"))
            } catch let error as FeathersError {
                return
                    "\(error.code) \(error.message) \(error.jsonAPIErrors) \(error.data as Any) "
                    + "cause: \(error.cause as Any)"
            } catch {
                return "\(error)"
            }
        }
        return (await described(straight), await described(byRecords), isDirect.withLock { $0 })
    }

    @Sendable private static func described(_ page: JSONAPIPage<some JSONAPIModel>) -> String {
        "\(page.data) \(page.total as Any) \(page.links) \(page.meta as Any) \(page.cursors) \(page.hasNext) "
            + "\(page.hasPrevious)"
    }

    private static let queries: [Query<JSONValue>] = [
        Query(), .including("author"), .including("author", "comments"), .including("author.articles"),
        .including("comments.author"),
    ]

    private static let lists = [
        // Without linkage, with links alone, with null, empty; ids as integers; a local id; a cursor; members of
        // extensions and at-members.
        #"""
        {"data": [{"type": "articles", "id": 1, "attributes": {"title": "A", "@context": 1}, \#
        "meta": {"page": {"cursor": "c1"}}}], "meta": {"page": {"total": 4}}, \#
        "links": {"next": "/articles?page=2", "prev": null}, "jsonapi": {"version": "1.1"}}
        """#,
        #"""
        {"data": [{"type": "articles", "lid": "x", "attributes": {"title": "A"}, "ext:a": 1, \#
        "relationships": { "author": {"links": {"related": "/a"}, "meta": {"a": 1}}, "comments": {"data": []}}}, \#
        {"type": "articles", "id": "2", "attributes": {"title": "\u00e9", "createdAt": null}, \#
        "relationships": {"author": {"data": null}}}], "meta": {"total": 2}}
        """#,
        #"{"data": [], "meta": {"total": 0}}"#,
        // With a repeated key.
        #"{"data": [{"type": "articles", "id": "0", "id": "1", "attributes": {"title": "A"}}]}"#,
        // Misfits: a missing attribute, a wrong one, a wrong type, several targets, one target, and a list of something
        // else.
        #"{"data": [{"type": "articles", "id": "1", "attributes": {"title": "A"}}, {"type": "articles", "id": "2"}]}"#,
        #"{"data": [{"type": "articles", "id": "1", "attributes": {"title": 1}}]}"#,
        #"{"data": [{"type": "articles", "id": "1", "attributes": {"title": "A", "createdAt": "yesterday"}}]}"#,
        #"{"data": [{"type": "people", "id": "1", "attributes": {"title": "A"}}]}"#,
        #"""
        {"data": [{"type": "articles", "id": "1", "attributes": {"title": "A"}, \#
        "relationships": {"author": {"data": []}}}]}
        """#,
        #"""
        {"data": [{"type": "articles", "id": "1", "attributes": {"title": "A"}, \#
        "relationships": {"author": {"data": {"type": "people", "id": "7"}}}}], \#
        "included": [{"type": "people", "id": "7", "attributes": {"name": 7}}]}
        """#,
        #"{"data": [{"type": "articles"}, {"id": "2"}]}"#,
        #"{"data": {"type": "articles", "id": "1", "attributes": {"title": "A"}}}"#,
        #"{"data": "x"}"#, #"{"data": null}"#, #"{"meta": {}}"#, "[", "{}",
        #"{"errors": [{"status": "422", "title": "T", "source": {"pointer": "/data"}}], "meta": {"a": 1}}"#,
        #"{"data": [], "errors": [{"status": "500", "detail": "D"}], "links": {"about": "/e"}}"#,
    ]

    @Test("a list: attributes, relationships, includes, meta, links, cursors, errors", arguments: lists + [nil])
    func list(text: String?) async throws {
        let answer = Answer(try text ?? JSONAPIDocument.example().json.description)
        for query in Self.queries {
            let articles = try await bothWays(answer, as: Article.self) { Self.described(try await $0.find(query)) }
            #expect(articles.straight == articles.byRecords)
            let plain = try await bothWays(answer, as: PlainArticle.self) { Self.described(try await $0.find(query)) }
            #expect(plain.straight == plain.byRecords)
        }
    }

    @Test(
        "one resource, read, created, changed, or the target of a relationship",
        arguments: [200, 201, 202, 204, 304, 404, 422])
    func one(status: Int) async throws {
        for body in [
            #"""
            {"data": {"type": "articles", "id": "1", "attributes": {"title": "A"}, \#
            "relationships": {"author": {"data": {"type": "people", "id": "7"}}}}, \#
            "included": [{"type": "people", "id": "7", "attributes": {"name": "N"}}], "meta": {"a": 1}}
            """#,
            #"{"data": {"type": "articles", "id": "1"}}"#, #"{"data": null}"#, #"{"data": []}"#, #"{"meta": {"a": 1}}"#,
            "",
            #"{"errors": [{"status": "422", "detail": "D"}]}"#,
        ] {
            let answer = Answer(body, status: status, headers: [("Location", "/articles/1")])
            let calls: [@Sendable (JSONAPIService<Article>) async throws -> String] = [
                { "\(try await $0.get("1", query: .including("author")))" },
                { "\(try await $0.create(Article(title: "A", author: .empty)))" },
                { "\(try await $0.patch("1", with: Article(title: "B")) as Any)" },
                { "\(try await $0.relationship("author", ofID: "1").related(Article.self) as Any)" },
                { "\(try await $0.relationship("author", ofID: "1").relatedList(of: Article.self))" },
            ]
            for call in calls {
                let result = try await bothWays(answer, as: Article.self, call)
                #expect(result.straight == result.byRecords)
            }
        }
    }

    @Test("the document stays a text until a hook reads it, and the hook reads the same records as before")
    func text() async throws {
        let answer = Answer(try JSONAPIDocument.example().json.description)
        let result = try await bothWays(answer, as: Article.self) { Self.described(try await $0.find()) }
        #expect(result.isDirect && result.straight.contains("Dan"))

        let server = try SeamServer(answer)
        let read = Locked<[JSONValue]>([])
        let documents = Locked<[JSONAPIDocument?]>([])
        server.app.use(
            hooks: Hooks(after: [
                { context in
                    read.withLock { $0.append(context.result ?? .null) }
                    documents.withLock { $0.append(context.response?[JSONAPIDocument.self]) }
                }
            ]))
        let page = try await server.app.jsonAPI(Article.self).find()
        let records = try await server.app.service("articles").rawFind()
        #expect(read.withLock { $0 } == [records, records])
        #expect(documents.withLock { $0 } == [try JSONAPIDocument.example(), try JSONAPIDocument.example()])
        #expect(page.first?.author.value?.name == "Dan")
    }

    @Test("a hook's change of the result is what the model is decoded from")
    func changed() async throws {
        let server = try SeamServer(.init(#"{"data": {"type": "articles", "id": "1", "attributes": {"title": "A"}}}"#))
        server.app.use(hooks: Hooks(after: [{ $0.result?["title"] = "changed" }]))
        #expect(try await server.app.jsonAPI(Article.self).get("1").title == "changed")
    }

    @Test("names follow the transport's style, formats the service's codec")
    func codecs() async throws {
        struct Entry: JSONAPIModel {
            static let type = "articles"
            var id: String?
            var createdAt: Date
            var bestFriend: ToOne<Person> = ToOne()
        }
        let body =
            #"""
            {"data": {"type": "articles", "id": "1", "attributes": {"created-at": 1000}, \#
            "relationships": {"best-friend": {"data": null}}}}
            """#
        let codec = JSONAPICodec(coding: CodingOptions(dates: .secondsSince1970))
        let result = try await bothWays(Answer(body), as: Entry.self, codec: JSONAPICodec(keys: .dasherized)) {
            service in
            "\(try await JSONAPIService(service.service, of: Entry.self, codec: codec).get("1"))"
        }
        #expect(result.isDirect && result.straight == result.byRecords && result.straight.contains("null"))
    }

    @Test("the meta of a linkage is kept, which plain records have only for targets that are not included")
    func linkageMeta() async throws {
        let server = try SeamServer(
            .init(
                #"""
                {"data": {"type": "articles", "id": "1", "attributes": {"title": "A"}, \#
                "relationships": {"author": {"data": {"type": "people", "id": "7", "meta": {"role": "editor"}}}}}, \#
                "included": [{"type": "people", "id": "7", "attributes": {"name": "N"}}]}
                """#
            ))
        #expect(try await server.app.jsonAPI(Article.self).get("1").author.identifier?.meta == ["role": "editor"])
    }

    @Test("random articles, people and comments that refer to each other, with random includes", arguments: 0..<100)
    func random(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        func linkage(_ type: String, toMany: Bool) -> JSONValue {
            func identifier() -> JSONValue { ["type": .string(type), "id": .string(String(random.below(3)))] }
            switch random.below(4) {
            case 0: return ["links": ["related": "/x"]]
            case 1: return ["data": toMany ? [] : .null]
            default: return ["data": toMany ? .array((0...random.below(2)).map { _ in identifier() }) : identifier()]
            }
        }
        func resource(_ type: String, _ id: Int) -> JSONValue {
            var relationships: JSONObject = [:]
            if type == "people" {
                relationships["articles"] = linkage("articles", toMany: true)
            } else {
                relationships["author"] = linkage("people", toMany: false)
                if type == "articles" { relationships["comments"] = linkage("comments", toMany: true) }
            }
            return [
                "type": .string(type), "id": .string(String(id)),
                "attributes": ["title": "T\(id)", "name": "N\(id)", "body": "B\(id)"],
                "relationships": .object(relationships), "links": ["self": "/\(type)/\(id)"],
            ]
        }
        let included = ["people", "comments", "articles"].flatMap { type in
            (0..<3).filter { _ in random.below(3) > 0 }.map { resource(type, $0) }
        }
        let paths = ["author", "comments", "author.articles", "comments.author", "author.articles.comments"].filter {
            _ in
            random.below(2) == 0
        }
        let query: Query<JSONValue> = paths.isEmpty ? Query() : Query(["$include": .array(paths.map(JSONValue.string))])
        let one = Answer(JSONValue.object(["data": resource("articles", 5), "included": .array(included)]).description)
        let many = Answer(
            JSONValue.object(["data": .array((5..<8).map { resource("articles", $0) }), "included": .array(included)])
                .description)
        let articles = try await bothWays(one, as: Article.self) { "\(try await $0.get("5", query: query))" }
        #expect(articles.straight == articles.byRecords && articles.isDirect)
        let plain = try await bothWays(one, as: PlainArticle.self) { "\(try await $0.get("5", query: query))" }
        #expect(plain.straight == plain.byRecords && plain.isDirect)
        let list = try await bothWays(many, as: Article.self) { Self.described(try await $0.find()) }
        #expect(list.straight == list.byRecords && list.isDirect)
    }
}

import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Foundation
import Testing

@Suite("JSON:API services", .timeLimit(.minutes(10)))
struct JSONAPIServiceTests {
    private func page(_ ids: ClosedRange<Int>, _ links: String) -> SeamHTTPClient.Answer {
        let data = ids.map { #"{"type": "articles", "id": "\#($0)", "attributes": {"title": "T\#($0)"}}"# }.joined(
            separator: ",")
        return .init(#"{"data": [\#(data)], "links": {\#(links)}, "meta": {"page": {"total": 4}}}"#)
    }

    @Test("models are read with what came along, and hooks see the calls")
    func find() async throws {
        let server = try SeamServer(.init(try JSONAPIDocument.example().json.description))
        await server.app.service("articles").use(
            hooks: Hooks(before: [.find: [{ $0.params.headers["X-Hook"] = "yes" }]]))
        let page = try await server.app.jsonAPI(Article.self).find(.including("author"))
        #expect(page.count == 1 && page.total == 30)
        #expect(page.first?.author.value?.name == "Dan")
        #expect(page.first?.author.links["self"]?.href == "/articles/1/relationships/author")
        #expect(page.first?.comments.meta == ["count": 2])
        #expect(page.meta == ["total": 30])
        #expect(server.client.requests.first?.headers["X-Hook"] == "yes")
    }

    @Test("pages lead to each other along the server's links, relative or not, through the same hooks")
    func pages() async throws {
        let server = try SeamServer(
            page(1...2, #""next": "?page[number]=2&x=%2B", "prev": null"#),
            page(3...4, #""prev": {"href": "https://example.com/v1/articles?page[number]=1"}"#),
            page(1...2, #""next": null"#))
        let first = try await server.app.jsonAPI(Article.self).find(.limit(2), params: Params(headers: ["X-Call": "1"]))
        #expect(first.hasNext && !first.hasPrevious)
        #expect(try await first.previous() == nil)
        let second = try #require(try await first.next())
        #expect(second.map(\.id) == ["3", "4"] && second.total == 4)
        #expect(try await second.next() == nil)
        #expect(try await second.previous()?.map(\.title) == ["T1", "T2"])
        #expect(
            server.lines == [
                "GET /v1/articles?page%5Bnumber%5D=1&page%5Bsize%5D=2", "GET /v1/articles?page%5Bnumber%5D=2&x=%2B",
                "GET /v1/articles?page%5Bnumber%5D=1",
            ])
        #expect(server.client.requests.allSatisfy { $0.headers["X-Call"] == "1" })
    }

    @Test("all pages are a sequence, each read when it is asked for")
    func sequence() async throws {
        let server = try SeamServer(
            page(1...2, #""next": "/v1/articles?p=2""#), page(3...3, #""next": "/v1/articles?p=3""#), page(4...4, ""))
        var ids: [String?] = []
        for try await page in server.app.jsonAPI(Article.self).pages() {
            #expect(server.lines.count == ids.count / 2 + 1 || server.lines.count == 3)
            ids += page.map(\.id)
        }
        #expect(ids == ["1", "2", "3", "4"])
        #expect(server.lines.count == 3)
    }

    @Test(
        "links that lead to another origin are not followed",
        arguments: ["https://evil.example/x", "http://example.com/x", "//evil.example"])
    func otherOrigin(link: String) async throws {
        let server = try SeamServer(page(1...1, #""next": "\#(link)""#))
        let first = try await server.app.jsonAPI(Article.self).find()
        let error = try await #require(throws: FeathersError.self) { try await first.next() }
        #expect(error.execution == .neverSent)
        #expect(server.lines.count == 1)
    }

    @Test("models are created and patched; what a patch leaves out is not sent")
    func write() async throws {
        struct Patch: JSONAPIModel {
            static let type = "articles"
            var id: String?
            var title = Presence<String>.absent
            var author = ToOne<Person>()
            var comments = ToMany<Comment>()
        }
        let server = try SeamServer(
            .init(#"{"data": {"type": "articles", "id": "1", "attributes": {"title": "T"}}}"#, status: 201),
            .init("", status: 204),
            .init(#"{"data": {"type": "articles", "id": "1", "attributes": {"title": "new"}}}"#), .init("", status: 204)
        )
        let articles = server.app.jsonAPI(Article.self)
        let created = try await articles.create(Article(title: "T", author: ToOne(id: "9"), comments: .empty))
        #expect(created.id == "1")
        #expect(try await articles.patch("1", with: Patch(author: .empty, comments: .empty)) == nil)
        #expect(try await articles.patch("1", with: Patch(title: .null))?.title == "new")
        try await articles.remove("1")
        #expect(
            server.bodies == [
                [
                    "data": [
                        "type": "articles", "attributes": ["title": "T"],
                        "relationships": [
                            "author": ["data": ["type": "people", "id": "9"]], "comments": ["data": []],
                        ],
                    ]
                ],
                [
                    "data": [
                        "type": "articles", "id": "1",
                        "relationships": ["author": ["data": nil], "comments": ["data": []]],
                    ]
                ],
                ["data": ["type": "articles", "id": "1", "attributes": ["title": nil]]], nil,
            ])
    }

    @Test("names follow the codec's style all the way to the server and back")
    func keys() async throws {
        struct Entry: JSONAPIModel, Equatable {
            static let type = "entries"
            var id: String?
            var avatarURL: String
            var bestFriend = ToOne<Person>()
        }
        let server = try SeamServer(
            .init(
                #"""
                {"data": {"type": "entries", "id": "1", "attributes": {"avatar-url": "a"}, \#
                "relationships": {"best-friend": {"data": null}}}}
                """#
            ),
            codec: JSONAPICodec(keys: .dasherized))
        let entry = try await server.app.jsonAPI(Entry.self).create(Entry(avatarURL: "a", bestFriend: ToOne(id: "2")))
        #expect(entry == Entry(id: "1", avatarURL: "a", bestFriend: .empty))
        #expect(server.bodies[0]?["data"]?["attributes"] == ["avatar-url": "a"])
        #expect(
            server.bodies[0]?["data"]?["relationships"] == ["best-friend": ["data": ["type": "people", "id": "2"]]])
    }

    @Test("attributes that look like relationships stay attributes, both ways")
    func lookalikes() async throws {
        struct Block: Codable, Equatable { var id, type, text: String }
        struct Post: JSONAPIModel, Equatable {
            static let type = "posts"
            var id: String?
            var blocks: [Block]
            var cover: Block
        }
        let block = Block(id: "1", type: "paragraph", text: "Hi")
        let element = #"{"id": "1", "type": "paragraph", "text": "Hi"}"#
        let fields = #"{"blocks": [\#(element)], "cover": \#(element)}"#
        let server = try SeamServer(
            .init(#"{"data": {"type": "posts", "id": "7", "attributes": \#(fields)}}"#, status: 201),
            .init(#"{"data": {"type": "posts", "id": "7", "attributes": \#(fields)}}"#))
        let posts = server.app.jsonAPI(Post.self)
        // A hook that reads the result lets it be a plain record on its way.
        server.app.use(hooks: Hooks(after: [{ context in context.result = context.result }]))
        let post = try await posts.create(Post(blocks: [block], cover: block))
        #expect(post == Post(id: "7", blocks: [block], cover: block))
        #expect(try await posts.get("7") == post)
        #expect(try server.bodies[0]?["data"]?["attributes"] == JSONValue(parsing: fields))
        #expect(server.bodies[0]?["data"]?["relationships"] == nil)
    }

    @Test("a result that does not fit the model is an error with its place")
    func misfit() async throws {
        let server = try SeamServer(.init(#"{"data": {"type": "articles", "id": "1"}}"#))
        let error = try await #require(throws: FeathersError.self) {
            try await server.app.jsonAPI(Article.self).get("1")
        }
        #expect(error.message.contains("/data/attributes/title"))
    }

    @Test("a service of the core's with a model speaks JSON:API with the codec")
    func coreService() async throws {
        let server = try SeamServer(.init(try JSONAPIDocument.example().json.description), .init("", status: 204))
        let articles = server.app.service("articles", of: Article.self, coding: JSONAPICodec())
        #expect(try await articles.find().first?.author.value?.name == "Dan")
        let created = try await articles.create(Article(id: "1", title: "T", author: .empty))
        #expect(created.title == "T" && created.author.linkage == .null)
        #expect(server.bodies[1]?["data"]?["relationships"] == ["author": ["data": nil]])
    }
}

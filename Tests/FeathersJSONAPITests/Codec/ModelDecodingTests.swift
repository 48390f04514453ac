import FeathersCore
import FeathersJSONAPI
import Foundation
import Testing

@Suite("Documents as models", .timeLimit(.minutes(10)))
struct ModelDecodingTests {
    private let codec = JSONAPICodec()

    @Test("a compound document gives models with what its relationships lead to")
    func compound() throws {
        let article = try #require(try codec.decodeList(Article.self, from: .example()).first)
        #expect(article.id == "1")
        #expect(article.createdAt == Date(timeIntervalSince1970: 1_432_306_589))
        #expect(article.author.value?.name == "Dan")
        #expect(
            article.author.links.url("self", relativeTo: URL(string: "https://example.com/x"))?.path
                == "/articles/1/relationships/author")
        #expect(article.comments.values.map(\.body) == ["First!", "I like XML better"])
        #expect(article.comments.isLoaded)
        #expect(article.comments.meta == ["count": 2])
        // Person 2 did not come along: the identifier says who it is.
        #expect(article.comments.values.first?.author.identifier == JSONAPIIdentifier(type: "people", id: "2"))
        #expect(article.comments.values.first?.author.value == nil)
    }

    @Test("a circle is cut where it comes back to a resource, which stays as its identifier")
    func circle() throws {
        let article = try #require(try codec.decodeList(Article.self, from: .example()).first)
        let articles = try #require(article.author.value?.articles)
        #expect(articles.identifiers?.map(\.id) == ["1", "2"])
        #expect(articles.values.isEmpty)
        #expect(!articles.isLoaded)
    }

    @Test("models inside models need no wrappers; what did not come along is left out")
    func plain() throws {
        let article = try #require(try codec.decodeList(PlainArticle.self, from: .example()).first)
        #expect(article.author == PlainPerson(id: "9", name: "Dan", articles: []))
        #expect(article.comments.map(\.id) == ["5", "12"])
        // A person without a name is none.
        #expect(article.comments.map(\.author?.name) == [nil, "Dan"])
    }

    @Test("a target that did not come along is decoded from its identifier where that is enough")
    func bare() throws {
        struct Post: JSONAPIModel {
            static let type = "posts"
            var id: String
            var comments: [PlainComment]
            var pinned: JSONAPIIdentifier?
        }
        let document = try JSONAPIDocument(
            text: #"""
                {"data": {"type": "posts", "id": "1", "relationships": {
                    "comments": {"data": [{"type": "comments", "id": "7"}]},
                    "pinned": {"data": {"type": "comments", "id": "8"}}}}}
                """#)
        let post = try codec.decode(Post.self, from: document)
        #expect(post.comments == [PlainComment(id: "7")])
        #expect(post.pinned == JSONAPIIdentifier(type: "comments", id: "8"))
    }

    @Test("what one resource is cut at does not show where it is reached otherwise")
    func cutsAreNotShared() throws {
        let document = try JSONAPIDocument(
            text: #"""
                {"data": [
                  {"type": "articles", "id": "1", "attributes": {"title": "A"},
                    "relationships": {"author": {"data": {"type": "people", "id": "9"}}}},
                  {"type": "articles", "id": "2", "attributes": {"title": "B"},
                    "relationships": {"author": {"data": {"type": "people", "id": "9"}}}}],
                 "included": [{"type": "people", "id": "9", "attributes": {"name": "Dan"}, "relationships": {
                    "articles": {"data": [{"type": "articles", "id": "1"}, {"type": "articles", "id": "2"}]}}}]}
                """#)
        let articles = try codec.decodeList(Article.self, from: document)
        #expect(articles.map { $0.author.value?.articles.values.map(\.title) } == [["B"], ["A"]])
    }

    @Test("a relationship to resources of several types is an enum; a type it does not know leaves the identifier")
    func polymorphic() throws {
        struct Like: JSONAPIModel {
            static let type = "likes"
            var id: Int
            var subject: ToOne<Subject>
            var others: ToMany<Subject>
        }
        let document = try JSONAPIDocument(
            text: #"""
                {"data": {"type": "likes", "id": "17", "relationships": {
                    "subject": {"data": {"type": "people", "id": "9"}},
                    "others": {"data": [{"type": "articles", "id": "1"}, {"type": "planets", "id": "4"}]}}},
                 "included": [
                    {"type": "people", "id": "9", "attributes": {"name": "Dan"}}, {"type": "planets", "id": "4"},
                    {"type": "articles", "id": "1", "attributes": {"title": "A"}}]}
                """#)
        let like = try codec.decode(Like.self, from: document)
        #expect(like.id == 17)
        #expect(like.subject.value == .person(Person(id: "9", name: "Dan")))
        #expect(like.others.values == [.article(Article(id: "1", title: "A"))])
        #expect(like.others.identifiers?.count == 2)
        let resource = try codec.resource(of: like)
        #expect(resource.relationships["subject"]?.linkage == .one(JSONAPIIdentifier(type: "people", id: "9")))
    }

    @Test("links and meta of a resource are properties of their types; ids are what the model takes them for")
    func members() throws {
        struct Meta: Codable, Equatable { var revision: Int }
        struct Item: JSONAPIModel {
            static let type = "articles"
            var id: Int
            var kind: String
            var own: JSONAPIMeta
            var links: JSONAPILinks?
            enum CodingKeys: String, CodingKey {
                case id, own, links
                case kind = "type"
            }
        }
        let item = try #require(try codec.decodeList(Item.self, from: .example()).first)
        #expect(item.id == 1)
        #expect(item.kind == "articles")
        #expect(try item.own.decode(Meta.self) == Meta(revision: 3))
        #expect(item.links?["self"]?.href == "http://example.com/articles/1")
        let resource = try codec.resource(of: item)
        #expect(resource.id == "1")
        #expect(resource.meta == ["revision": 3])
        #expect(resource.attributes.isEmpty)

        let plain = JSONAPIDocument(data: .one(JSONAPIResource(type: "articles", id: "1")))
        #expect(try codec.resource(of: codec.decode(Item.self, from: plain)).meta == nil)
    }

    @Test(
        "what does not fit is an error with its place",
        arguments: [
            (#"{"data": {"type": "articles", "id": "1"}}"#, "/data/attributes/title"),
            (#"{"data": {"type": "articles", "id": "1", "attributes": {"title": 7}}}"#, "/data/attributes/title"),
            (
                #"{"data": {"type": "articles", "id": "1", "attributes": {"title": "A", "createdAt": "now"}}}"#,
                "/data/attributes/createdAt"
            ),
            (#"{"data": {"type": "people", "id": "1"}}"#, "/data/type"),
            (#"{"data": null}"#, "/data"),
            (#"{"data": []}"#, "/data"),
            (#"{"meta": {}}"#, "/data"),
            (
                #"""
                {"data": {"type": "articles", "id": "1", "attributes": {"title": "A"}, \#
                "relationships": {"author": {"data": []}}}}
                """#,
                "/data/relationships/author"
            ),
            (
                #"""
                {"data": {"type": "articles", "id": "1", "attributes": {"title": "A"},
                    "relationships": {"author": {"data": {"type": "people", "id": "2"}}}},
                 "included": [
                    {"type": "people", "id": "1"}, {"type": "people", "id": "2", "attributes": {"name": null}}]}
                """#, "/included/1/attributes/name"
            ),
        ])
    func misfits(text: String, pointer: String) throws {
        let document = try JSONAPIDocument(text: text)
        let error = try #require(throws: JSONAPIError.self) { try codec.decode(Article.self, from: document) }
        #expect(error.pointer.text == pointer)
    }

    @Test("a chain of resources longer than may stand inside each other is an error, not a crash")
    func chain() throws {
        struct Link: JSONAPIModel {
            static let type = "links"
            var id: String
            var next: ToOne<Link>
        }
        func document(_ length: Int) -> JSONAPIDocument {
            let resources = (0...length).map { number in
                JSONAPIResource(
                    type: "links", id: String(number),
                    relationships: [
                        "next": JSONAPIRelationship(.one(JSONAPIIdentifier(type: "links", id: String(number + 1))))
                    ])
            }
            return JSONAPIDocument(data: .one(resources[0]), included: Array(resources.dropFirst()))
        }
        #expect(try codec.decode(Link.self, from: document(30)).next.value != nil)
        let error = try #require(throws: JSONAPIError.self) { try codec.decode(Link.self, from: document(100_000)) }
        #expect(error.pointer.text == "/included/31")
    }

    @Test("resources that all lead to each other are an error, not a wait without end")
    func clique() throws {
        struct Node: JSONAPIModel {
            static let type = "nodes"
            var id: String
            var others: [Node]
        }
        let all = (0..<20).map { JSONAPIIdentifier(type: "nodes", id: String($0)) }
        let resources = all.map {
            JSONAPIResource(type: "nodes", id: $0.id, relationships: ["others": JSONAPIRelationship(.many(all))])
        }
        let document = JSONAPIDocument(data: .many(resources))
        let error = try #require(throws: JSONAPIError.self) { try codec.decodeList(Node.self, from: document) }
        #expect(error.message.contains("too many ways"))
    }
}

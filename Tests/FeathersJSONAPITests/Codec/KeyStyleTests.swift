import FeathersCore
import FeathersJSONAPI
import Foundation
import Testing

@Suite("Names of fields", .timeLimit(.minutes(10)))
struct KeyStyleTests {
    @Test(
        "follow from names of properties",
        arguments: [
            ("title", "title", "title", "title"), ("createdAt", "created-at", "created_at", "createdAt"),
            ("HTMLBody", "html-body", "html_body", "HTMLBody"), ("userID", "user-id", "user_id", "userID"),
            ("created_at", "created_at", "created_at", "createdAt"), ("v2Name", "v2-name", "v2_name", "v2Name"),
            ("é", "é", "é", "é"),
        ])
    func wireNames(property: String, dashed: String, underscored: String, camel: String) {
        #expect(KeyStyle.asIs.wireName(of: property) == property)
        #expect(KeyStyle.dasherized.wireName(of: property) == dashed)
        #expect(KeyStyle.underscored.wireName(of: property) == underscored)
        #expect(KeyStyle.camel.wireName(of: property) == camel)
    }

    @Test(
        "lead back to names of properties",
        arguments: [("created-at", "createdAt"), ("-x", "-x"), ("a-", "a-"), ("a-1", "a-1"), ("é-a", "éA")])
    func propertyNames(wire: String, property: String) {
        #expect(KeyStyle.dasherized.propertyName(of: wire) == property)
        #expect(
            KeyStyle.underscored.propertyName(of: wire.replacingOccurrences(of: "-", with: "_"))
                == property.replacingOccurrences(of: "-", with: "_"))
    }

    @Test("apply to each part of a path")
    func paths() {
        #expect(KeyStyle.dasherized.wirePath(of: "firstComments.theAuthor") == "first-comments.the-author")
    }

    private struct Post: JSONAPIModel, Equatable {
        static let type = "blogPosts"
        var id: String?
        var rawHTML: String
        var relatedPosts: [Post]?
        var avatarURL: URL?
    }

    @Test(
        "apply to attributes and relationships of models, both ways, and never to types",
        arguments: [
            (KeyStyle.dasherized, "raw-html", "related-posts"), (.underscored, "raw_html", "related_posts"),
            (KeyStyle(wireName: { $0.uppercased() }, propertyName: { $0.lowercased() }), "RAWHTML", "RELATEDPOSTS"),
        ])
    func models(keys: KeyStyle, body: String, related: String) throws {
        let codec = JSONAPICodec(keys: keys)
        let post = Post(id: "1", rawHTML: "x", relatedPosts: [])
        let resource = try codec.resource(of: post)
        #expect(resource.type == "blogPosts")
        #expect(resource.attributes == [body: "x"])
        #expect(resource.relationships.names == [related])
        #expect(try codec.decode(Post.self, from: JSONAPIDocument(data: .one(resource))) == post)
    }

    @Test("relative URLs are resolved against the base URL, and what is no URL is an error")
    func urls() throws {
        let codec = JSONAPICodec(baseURL: URL(string: "https://example.com/v1/"))
        func url(_ text: JSONValue) throws -> String? {
            let resource = JSONAPIResource(type: "blogPosts", id: "1", attributes: ["rawHTML": "", "avatarURL": text])
            return try codec.decode(Post.self, from: JSONAPIDocument(data: .one(resource))).avatarURL?.absoluteString
        }
        #expect(try url("a.png") == "https://example.com/v1/a.png")
        #expect(try url("/a.png") == "https://example.com/a.png")
        #expect(try url("http://other.org/a.png") == "http://other.org/a.png")
        #expect(try url(nil) == nil)
        let error = try #require(throws: JSONAPIError.self) { try url("http://[") }
        #expect(error.pointer.text == "/data/attributes/avatarURL")
    }

    @Test("dates are read and written as the coding options say")
    func dates() throws {
        let codec = JSONAPICodec(coding: CodingOptions(dates: .secondsSince1970))
        let article = Article(id: "1", title: "A", createdAt: Date(timeIntervalSince1970: 5))
        let resource = try codec.resource(of: article)
        #expect(resource.attributes["createdAt"] == 5)
        #expect(try codec.decode(Article.self, from: JSONAPIDocument(data: .one(resource))) == article)
    }
}

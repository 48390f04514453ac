import FeathersCore
import FeathersJSONAPI
import Foundation

struct Person: JSONAPIModel, Equatable {
    static let type = "people"
    var id: String?
    var name: String
    var articles: ToMany<Article> = ToMany()
}

struct Comment: JSONAPIModel, Equatable {
    static let type = "comments"
    var id: String?
    var body: String?
    var author: ToOne<Person> = ToOne()
}

struct Article: JSONAPIModel, Equatable {
    static let type = "articles"
    var id: String?
    var title: String
    var createdAt: Date?
    var author: ToOne<Person> = ToOne()
    var comments: ToMany<Comment> = ToMany()
}

/// The same with models inside models.
struct PlainPerson: JSONAPIModel, Equatable {
    static let type = "people"
    var id: String?
    var name: String
    var articles: [PlainArticle]?
}

struct PlainComment: JSONAPIModel, Equatable {
    static let type = "comments"
    var id: String?
    var body: String?
    var author: PlainPerson?
}

struct PlainArticle: JSONAPIModel, Equatable {
    static let type = "articles"
    var id: String?
    var title: String
    var author: PlainPerson?
    var comments: [PlainComment]
}

enum Subject: JSONAPIPolymorphic, Equatable {
    case person(Person), article(Article)

    init(type: String, from decoder: any Decoder) throws {
        switch type {
        case Person.type: self = .person(try Person(from: decoder))
        case Article.type: self = .article(try Article(from: decoder))
        default: throw JSONAPIUnknownType(type)
        }
    }

    var model: any JSONAPIModel {
        switch self {
        case .person(let person): person
        case .article(let article): article
        }
    }
}

extension JSONAPIDocument {
    init(text: String) throws {
        try self.init(parsing: Array(text.utf8))
    }

    /// The example of the specification's first page, with a circle: authors know their articles.
    static func example() throws -> JSONAPIDocument {
        try JSONAPIDocument(
            text: """
                {"data": [{"type": "articles", "id": "1",
                    "attributes": {"title": "JSON:API paints my bikeshed!", "createdAt": "2015-05-22T14:56:29.000Z"},
                    "relationships": {
                        "author": {"links": {"self": "/articles/1/relationships/author"},
                            "data": {"type": "people", "id": "9"}},
                        "comments": {"data": [{"type": "comments", "id": "5"}, {"type": "comments", "id": "12"}],
                            "meta": {"count": 2}}},
                    "links": {"self": "http://example.com/articles/1"}, "meta": {"revision": 3}}],
                 "included": [
                    {"type": "people", "id": "9", "attributes": {"name": "Dan"},
                        "relationships": {"articles": {"data": [
                            {"type": "articles", "id": "1"}, {"type": "articles", "id": "2"}]}}},
                    {"type": "comments", "id": "5", "attributes": {"body": "First!"},
                        "relationships": {"author": {"data": {"type": "people", "id": "2"}}}},
                    {"type": "comments", "id": "12", "attributes": {"body": "I like XML better"},
                        "relationships": {"author": {"data": {"type": "people", "id": "9"}}}}],
                 "links": {"self": "http://example.com/articles", "next": "/articles?page[offset]=2", "prev": null},
                 "meta": {"total": 30}, "jsonapi": {"version": "1.1"}}
                """)
    }
}

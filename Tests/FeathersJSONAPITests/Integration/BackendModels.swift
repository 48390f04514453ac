import FeathersCore
import FeathersJSONAPI
import Foundation
import TestBackend
import Testing

/// The types of `Tests/Support/Backend/jsonapi/schema.py`.
enum Backend {
    struct Post: JSONAPIModel {
        static let type = "posts"
        static let readOnly: Set<String> = ["views", "createdAt"]
        var id: String?
        var title: String
        var body: String?
        var tags: [String]?
        var publishedAt: Date?
        var createdAt: Date?
        var views: Int?
        var author = ToOne<Person>()
        var comments = ToMany<Comment>()
        var pinned = ToOne<Pinned>()
    }

    struct PostPatch: JSONAPIModel {
        static let type = "posts"
        var id: String?
        var title = Presence<String>.absent
        var body = Presence<String>.absent
        var author = ToOne<Person>()
    }

    struct Person: JSONAPIModel {
        static let type = "people"
        var id: String?
        var lid: String?
        var name: String
        var age: Int?
        var admin: Bool?
        var posts = ToMany<Post>()
        var favorites = ToMany<Favorite>()
    }

    struct Comment: JSONAPIModel {
        static let type = "comments"
        var id: String?
        var body: String
        var author = ToOne<Person>()
        var post = ToOne<Post>()
    }

    struct Media: JSONAPIModel {
        static let type = "media"
        var id: String?
        var url: URL
        var size: Double?
        var details: JSONValue?
    }

    enum Pinned: JSONAPIPolymorphic {
        case comment(Comment), media(Media)

        init(type: String, from decoder: any Decoder) throws {
            switch type {
            case Comment.type: self = .comment(try Comment(from: decoder))
            case Media.type: self = .media(try Media(from: decoder))
            default: throw JSONAPIUnknownType(type)
            }
        }

        var model: any JSONAPIModel {
            switch self {
            case .comment(let comment): comment
            case .media(let media): media
            }
        }
    }

    enum Favorite: JSONAPIPolymorphic {
        case post(Post), media(Media)

        init(type: String, from decoder: any Decoder) throws {
            switch type {
            case Post.type: self = .post(try Post(from: decoder))
            case Media.type: self = .media(try Media(from: decoder))
            default: throw JSONAPIUnknownType(type)
            }
        }

        var model: any JSONAPIModel {
            switch self {
            case .post(let post): post
            case .media(let media): media
            }
        }
    }

    /// An app on a space of the JSON:API server's.
    static func app(
        _ settings: JSONAPISettings = JSONAPISettings(), _ change: (inout JSONAPIOptions) -> Void = { _ in }
    ) async throws
        -> FeathersApp
    {
        let space = try await JSONAPISpace(settings)
        var options = JSONAPIOptions(filters: .operators, operationsPath: "operations")
        change(&options)
        return FeathersApp(
            transport: .jsonAPI(
                space.url, codec: JSONAPICodec(keys: .dasherized, baseURL: URL(string: "https://cdn.example/")),
                options: options))
    }
}

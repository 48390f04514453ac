import Feathers
import FeathersJSONAPI
import FeathersTesting
import Foundation

// The samples of the article about JSON:API, each one as it stands there: `ReadmeTests` compares them.

private struct Person: JSONAPIModel {
    static let type = "people"
    var id: String?
    var lid: String?
    var name: String
}

private struct Comment: JSONAPIModel {
    static let type = "comments"
    var id: String?
    var body: String
}

private struct Photo: JSONAPIModel {
    static let type = "photos"
    var id: String
}

private struct Video: JSONAPIModel {
    static let type = "videos"
    var id: String
}

private struct Post: JSONAPIModel {
    static let type = "posts"
    static let readOnly: Set<String> = ["views"]  // read, never written
    var id: String?
    var title: String
    var views: Int?
    var author = ToOne<Person>()  // what it leads to, and the person where it came along
    var comments = ToMany<Comment>()
}

private struct PostPatch: JSONAPIModel {
    static let type = "posts"
    var id: String?
    var title = Presence<String>.absent
    var subtitle = Presence<String>.absent
    var author = ToOne<Person>()
}

private enum Attachment: JSONAPIPolymorphic {
    case photo(Photo), video(Video)

    init(type: String, from decoder: any Decoder) throws {
        switch type {
        case Photo.type: self = .photo(try Photo(from: decoder))
        case Video.type: self = .video(try Video(from: decoder))
        default: throw JSONAPIUnknownType(type)
        }
    }

    var model: any JSONAPIModel {
        switch self {
        case .photo(let photo): photo
        case .video(let video): video
        }
    }
}

private func start(_ url: URL) async throws {
    let app = FeathersApp(transport: .jsonAPI(url, codec: JSONAPICodec(keys: .dasherized)))
    let posts = app.jsonAPI(Post.self)

    let page = try await posts.find(
        .including("author", "comments.author").sorted(by: "createdAt", .descending).limit(20)
    )
    print(page.first?.author.value?.name ?? "nobody", page.total ?? 0)
    for try await page in posts.pages(.limit(100)) { print(page.count) }

    let post = try await posts.create(Post(title: "Notes", author: ToOne(id: "9")))
    try await posts.relationship("comments", ofID: "1").add([
        JSONAPIIdentifier(type: "comments", id: "5")
    ])
    _ = post
}

private func patches(_ posts: JSONAPIService<Post>) async throws {
    // The title stays.
    try await posts.patch("1", with: PostPatch(subtitle: .null, author: .empty))
}

func jsonAPIQueries() -> (JSONAPIOptions, Query<JSONValue>) {
    let options = JSONAPIOptions(
        filters: .conditions {
            [JSONAPIQueryItem("filter[\($0.field)][\($0.operator ?? "eq")]", try $0.text())]
        },
        pages: PageStrategy { limit, skip in
            [
                JSONAPIQueryItem("page[from]", "\(skip ?? 0)"),
                JSONAPIQueryItem("page[count]", "\(limit ?? 10)"),
            ]
        })
    let query = Query.including("author").fields(["name"], of: "people")
        .where("views", .greaterThan(5)).limit(10)
    return (options, query)
}

private func pages(_ posts: JSONAPIService<Post>) async throws {
    let page = try await posts.find(.limit(20))
    let next = try await page.next()
    guard let post = page.first else { return }
    let author = try await posts.load("author", post.author, of: post)
    let comments = posts.relationship("comments", ofID: "1")
    let newest = try await comments.relatedList(
        of: Comment.self, query: .sorted(by: "createdAt", .descending).limit(3))
    try await comments.remove([JSONAPIIdentifier(type: "comments", id: "5")])
    _ = (next, author, newest)
}

private func batches(_ app: FeathersApp, _ codec: JSONAPICodec) async throws {
    var batch = JSONAPIBatch(codec: codec)
    try batch.add(Person(lid: "author", name: "Ada"))
    try batch.add(
        Post(
            title: "Notes",
            author: ToOne(identifier: JSONAPIIdentifier(type: "people", lid: "author"))))
    batch.remove(JSONAPIIdentifier(type: "posts", id: "7"))
    do {
        let results = try await app.send(batch)
        print(try results[1].decode(Post.self).id ?? "-")
    } catch let error as FeathersError {
        for problem in error.jsonAPIErrors {
            print(
                problem.operationIndex ?? 0, problem.detail ?? "",
                problem.source?.pointer ?? "")
        }
    }
}

private func around(
    _ app: FeathersApp, _ batch: JSONAPIBatch, _ feathersURL: URL, _ storage: any TokenStorage, _ password: String
) async throws {
    let cache = ServiceCache(
        policy: .cacheFirstNetworkIfNotFoundOrExpired, expiration: .after(.seconds(60))
    ) {
        options in
        options.changingMethods = .changingRelationships
    }
    app.use(cache: cache)
    try await app.send(batch)
    await cache.invalidate(group: "posts")

    try await app.use(.rest(feathersURL), at: "authentication")
    try app.use(authentication: AuthenticationOptions(storage: storage))
    try await app.authenticate(.local(email: "ada@example.com", password: password))
}

func jsonAPIStubs(_ url: URL) async throws -> [String?] {
    let http = StubHTTPClient()
    http.stub(
        "/posts/1", "GET",
        with: .json(["data": ["type": "posts", "id": "1", "attributes": ["title": "Notes"]]]))
    let stubbed = FeathersApp(transport: .jsonAPI(url, httpClient: http))
    let title = try await stubbed.jsonAPI(Post.self).get("1").title

    let transport = StubTransport()
    transport.stub(
        "posts", .get,
        with: .value([
            "id": "1", "title": "Notes",
            "author": ["type": "people", "id": "9", "name": "Ada"],
        ]))
    let author = try await FeathersApp(transport: transport).jsonAPI(Post.self).get("1")
        .author.value
    return [title, author?.name]
}

func jsonAPICodecAlone(_ bytes: [UInt8], _ json: JSONValue, _ site: URL) throws -> ([String], [UInt8]) {
    let codec = JSONAPICodec(keys: .underscored, baseURL: site)
    let posts = try codec.decodeList(Post.self, from: JSONAPIDocument(parsing: bytes))
    let sent = try codec.document(of: Post(title: "Notes")).serialized(as: .creation)
    // Everything that breaks the specification, each with its JSON Pointer.
    for violation in JSONAPIDocument.violations(in: json) {
        print(violation.pointer, violation.message)
    }
    return (posts.map(\.title), sent)
}

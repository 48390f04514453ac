import FeathersCaching
import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("JSON:API answers from the cache", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct JSONAPICachingTests {
    /// A space of the server's, and a client that remembers what was sent.
    private let http = StubHTTPClient(passingThrough: PlatformHTTPClient.make())
    private let time = Locked(Date(timeIntervalSinceReferenceDate: 0))

    private func app() async throws -> FeathersApp {
        let app = FeathersApp(
            transport: .jsonAPI(
                try await JSONAPISpace().url, codec: JSONAPICodec(keys: .dasherized),
                options: JSONAPIOptions(filters: .operators, operationsPath: "operations"), httpClient: http))
        let cache = ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired, expiration: .after(.seconds(10))) {
            [time] options in
            options.changingMethods = .changingRelationships
            options.now = { time.withLock { $0 } }
        }
        app.use(cache: cache)
        return app
    }

    private var lines: [String] {
        http.requests.map { "\($0.method) \($0.url.pathComponents.dropFirst(2).joined(separator: "/"))" }
    }

    @Test(
        "a second read is answered without a request, with everything that came along; another query is another answer")
    func reads() async throws {
        let posts = try await app().jsonAPI(Backend.Post.self)
        for _ in 0..<2 {
            let post = try await posts.get("1", query: .including("author", "comments"))
            #expect(
                post.title == "About Arrays" && post.author.value?.name == "Alice" && post.comments.values.count == 8)
            let page = try await posts.find(.limit(5))
            #expect(page.count == 5 && page.total == 12 && page.hasNext)
            #expect(try await page.next()?.map(\.id) == ["6", "7", "8", "9", "10"])
        }
        #expect(lines == ["GET posts/1", "GET posts", "GET posts"])
        #expect(try await posts.get("1").author.value == nil)
        #expect(lines.count == 4)
    }

    @Test("changes of resources and of relationships empty the service's answers")
    func changes() async throws {
        let app = try await app()
        let posts = app.jsonAPI(Backend.Post.self)
        func title() async throws -> String { try await posts.get("1").title }
        #expect(try await title() == "About Arrays")
        try await posts.patch("1", with: Backend.PostPatch(title: .value("new")))
        #expect(try await title() == "new")
        _ = try await title()
        try await posts.relationship("author", ofID: "1").replace(with: JSONAPIIdentifier(type: "people", id: "2"))
        #expect(try await posts.get("1").author.identifier?.id == "2")
        try await posts.service.patchAll(query: .where("id", .isIn(["1"])), with: ["title": "newer"])
        #expect(try await title() == "newer")
        #expect(
            lines == [
                "GET posts/1", "PATCH posts/1", "GET posts/1", "PATCH posts/1/relationships/author", "GET posts/1",
                "POST operations",
                "GET posts/1",
            ])
    }

    @Test("an expired answer is asked for by its tag, and is fresh again where the server has no other")
    func revalidation() async throws {
        let posts = try await app().jsonAPI(Backend.Post.self)
        let first = try await posts.get("1")
        time.withLock { $0 += 11 }
        for _ in 0..<2 { #expect(try await posts.get("1").title == first.title) }
        #expect(lines.count == 2)
        #expect(http.requests[1].headers["If-None-Match"] != nil)
        #expect(http.calls.last?.response?.status == 304)
    }
}

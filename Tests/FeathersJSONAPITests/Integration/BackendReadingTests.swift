import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("Reading from a JSON:API server", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct BackendReadingTests {
    @Test(
        "compound documents, whatever way links are written",
        arguments: ["absolute", "path", "relative", "object", "none"])
    func compound(links: String) async throws {
        let app = try await Backend.app(JSONAPISettings { $0.links = links })
        let post = try await app.jsonAPI(Backend.Post.self).get(
            "1", query: .including("author", "comments.author", "pinned"))
        #expect(post.title == "About Arrays")
        #expect(post.createdAt == Date(timeIntervalSince1970: 1_704_110_400.5))
        #expect(post.author.value?.name == "Alice")
        #expect(post.comments.values.count == 8 && post.comments.isLoaded)
        #expect(post.comments.values.contains { $0.author.value?.name == "Bob" })
        guard case .comment(let pinned)? = post.pinned.value else {
            Issue.record("a comment is pinned")
            return
        }
        #expect(pinned.id == "3" && pinned.post.identifier?.id == "1")
    }

    @Test(
        "the server's documents keep to the specification",
        arguments: [
            "posts?include=author,comments.author,pinned&page%5Bsize%5D=3", "people/1",
            "posts/1/relationships/comments", "nothing",
        ])
    func valid(path: String) async throws {
        let space = try await JSONAPISpace()
        let url = try #require(URL(string: "\(space.url.absoluteString)/\(path)"))
        let response = try await PlatformHTTPClient.make().execute(HTTPRequest(url: url))
        let role = path.contains("relationships") ? JSONAPIDocument.Role.relationship : .response
        #expect(JSONAPIDocument.violations(in: try JSONValue(parsing: response.body), as: role) == [])
    }

    @Test("sparse fieldsets, sorting along relationships, filters")
    func queries() async throws {
        let posts = try await Backend.app().jsonAPI(Backend.Post.self)
        let sparse = try await posts.find(.selecting("title").limit(3))
        #expect(sparse.count == 3 && sparse.total == 12)
        #expect(sparse.allSatisfy { $0.views == nil && $0.author.linkage == nil })
        let sorted = try await posts.find(
            .including("author").sorted(by: "author.name").sorted(by: "views", .descending).limit(50))
        #expect(
            sorted.compactMap { $0.author.value?.name } == Array(repeating: "Alice", count: 4)
                + Array(repeating: "Bob", count: 4))
        #expect(try await posts.find(.where("views", .greaterThanOrEqual(50))).map(\.id) == ["10", "11", "12"])
        #expect(try await posts.find(.where("id", .isIn(["2", "5"]))).map(\.id) == ["2", "5"])
        #expect(try await posts.find(.where("author.name", "Bob")).count == 4)
        #expect(try await posts.find(.where("body", nil)).map(\.id) == ["3"])
    }

    @Test(
        "pages by number and offset are a sequence along the server's links",
        arguments: ["path", "relative", "absolute"],
        ["null", "omitted"])
    func pages(links: String, absent: String) async throws {
        let app = try await Backend.app(
            JSONAPISettings {
                $0.links = links
                $0.absentLinks = absent
            }, { $0.pages = .offset })
        let posts = app.jsonAPI(Backend.Post.self)
        var sizes: [Int] = []
        for try await page in posts.pages(.sorted(by: "createdAt").limit(5)) { sizes.append(page.count) }
        #expect(sizes == [5, 5, 2])
        let last = try await posts.find(.limit(5).skip(10))
        #expect(try await last.next() == nil)
        #expect(try await last.previous()?.map(\.id) == ["6", "7", "8", "9", "10"])
        #expect(try await last.first()?.first?.id == "1")
    }

    @Test("pages by cursor, after the profile")
    func cursors() async throws {
        let app = try await Backend.app(JSONAPISettings { $0.maxPageSize = 5 }) {
            $0.pages = .cursor
            $0.profiles = [CursorPagination.profile]
        }
        let posts = app.jsonAPI(Backend.Post.self)
        let first = try await posts.find(.sorted(by: "createdAt").limit(5))
        #expect(first.count == 5 && first.total == 12 && first.cursors.allSatisfy { $0 != nil })
        #expect(!first.hasPrevious && first.hasNext)
        let cursor = try #require(first.cursors[1])
        #expect(try await posts.find(.sorted(by: "createdAt").limit(2).after(cursor)).map(\.id) == ["3", "4"])
        var ids: [String?] = []
        for try await page in posts.pages(.sorted(by: "createdAt").limit(5)) { ids += page.map(\.id) }
        #expect(ids == (1...12).map(String.init))
        let end = try #require(first.cursors[4])
        #expect(try await posts.find(.sorted(by: "createdAt").limit(1).after(cursor).before(end)).isRangeTruncated)
        let error = try await #require(throws: FeathersError.self) { try await posts.find(.limit(6)) }
        #expect(error.jsonAPIErrors.first?.typeLinks == [CursorPagination.maxSizeExceeded])
        #expect(error.jsonAPIErrors.first?.maximumPageSize == 5)
        #expect(error.jsonAPIErrors.first?.source?.parameter == "page[size]")
    }

    @Test(
        "what the profile lets a server refuse or guess has its words, its types as links or as an older array",
        arguments: ["link", "array"])
    func cursorProfile(errorTypes: String) async throws {
        let app = try await Backend.app(
            JSONAPISettings {
                $0.errorTypes = errorTypes
                $0.rangePagination = false
                $0.totals = "estimated"
            }
        ) {
            $0.pages = .cursor
            $0.profiles = [CursorPagination.profile]
        }
        let posts = app.jsonAPI(Backend.Post.self)
        let page = try await posts.find(.limit(2))
        #expect(page.total == nil && page.estimatedTotal == 12 && !page.isRangeTruncated)
        let cursors = page.cursors.compactMap(\.self)
        try #require(cursors.count == 2)
        for (query, type) in [
            (Query.limit(1).after(cursors[0]).before(cursors[1]), CursorPagination.rangePaginationNotSupported),
            (.sorted(by: "author.name").limit(1), CursorPagination.unsupportedSort),
        ] {
            let error = try await #require(throws: FeathersError.self) { try await posts.find(query) }
            #expect(error.code == .badRequest && error.jsonAPIErrors.first?.typeLinks == [type])
        }
    }

    @Test("attributes of any kind; relative URLs follow the base URL")
    func attributes() async throws {
        let media = try await Backend.app().jsonAPI(Backend.Media.self).get("1")
        #expect(media.url.absoluteString == "https://cdn.example/files/1.png")
        #expect(media.size == 1024.5)
        #expect(media.details == ["width": 640, "height": 480.5, "formats": ["png", nil, ["lossless": true]]])
    }

    @Test("what is not there is not found, what is wrong says where")
    func errors() async throws {
        let posts = try await Backend.app().jsonAPI(Backend.Post.self)
        let missing = try await #require(throws: FeathersError.self) { try await posts.get("99") }
        #expect(missing.code == .notFound && !missing.jsonAPIErrors.isEmpty)
        let wrong = try await #require(throws: FeathersError.self) { try await posts.find(.including("nobody")) }
        #expect(wrong.code == .badRequest && wrong.jsonAPIErrors.first?.source?.parameter == "include")
    }

    @Test("an extension the server does not have is refused as such")
    func negotiation() async throws {
        let app = try await Backend.app { $0.extensions = ["https://example.com/none"] }
        let read = try await #require(throws: FeathersError.self) { try await app.service("posts").get("1") }
        #expect(read.code == .notAcceptable)
        let write = try await #require(throws: FeathersError.self) {
            try await app.service("posts").create(["title": "T"])
        }
        #expect([406, 415].contains(write.code.rawValue))
    }
}

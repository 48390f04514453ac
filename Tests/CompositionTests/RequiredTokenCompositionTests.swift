import Feathers
import FeathersJSONAPI
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

/// Required tokens together with every transport, and with what shows or stores the records of the app's own user.
@Suite(.timeLimit(.minutes(10))) struct RequiredTokenCompositionTests {
    private struct Note: Codable, Queryable, Sendable, Identifiable {
        enum CodingKeys: String, CodingKey { case id, text }

        var id: Int
        var text: String
    }

    private struct Post: JSONAPIModel {
        static let type = "posts"
        var id: String?
        var title: String
    }

    private let transport = StubTransport { request in
        let owner = request.params.headers["Authorization"]?.dropFirst(7) ?? "none"
        switch request.method {
        case .create where request.path == "authentication":
            return ["accessToken": "own", "user": ["id": "owner"]]
        case .find: return [["id": 1, "text": .string("\(owner)")]]
        default: return ["id": 1, "text": .string("\(owner)")]
        }
    }

    private func app(_ transport: any Transport, signsIn: Bool = true) async throws -> FeathersApp {
        let app = FeathersApp(transport: transport)
        try app.use(
            authentication: AuthenticationOptions(storage: InMemoryTokenStorage()) { $0.requiresToken = true })
        if signsIn { try await app.authenticate(.local(email: "owner", password: "p")) }
        return app
    }

    private func refuses(_ call: () async throws -> some Any) async -> Bool {
        let error = await failure { _ = try await call() }
        return error?.code == .notAuthenticated && error?.execution == .neverSent
            && error?.message.contains("'asOwnUser'") == true
    }

    @Test(arguments: CachePolicy.allCases, [true, false])
    func `No cache policy responds to a call without a token`(policy: CachePolicy, isSignedIn: Bool) async throws {
        let app = try await app(transport, signsIn: isSignedIn)
        app.use(cache: ServiceCache(policy: policy))
        app.use(hooks: .coalescingReads())
        let notes = app.service("notes")
        // What the app's own user has cached is not for a caller.
        _ = try await app.asOwnUser {
            _ = try await notes.get(1, params: .caching(.networkOnlyUpdateCache))
            return try await notes.find(params: .caching(.networkOnlyUpdateCache))
        }
        let before = transport.requests.count
        for policy in CachePolicy.allCases + [nil] {
            let params = policy.map { Params.caching($0) } ?? Params()
            #expect(await refuses { try await notes.get(1, params: params) })
            #expect(await refuses { try await notes.find(params: params) })
            #expect(await refuses { try await notes.cached.get(1, policy: policy).first() })
            #expect(await refuses { try await notes.cached.find(policy: policy).last() })
        }
        #expect(transport.requests.count == before)
        let theirs = try await app.withToken("theirs") {
            try await notes.get(1, params: .caching(.networkOnlyUpdateCache))
        }
        #expect(theirs["text"] == "theirs")
    }

    @Test func `Live queries, stored rows, drafts and queued writes are refused unless marked`() async throws {
        let folder = try TemporaryFolder()
        let app = try await app(transport)
        try await app.use(localStore: .directory(folder.url))
        let outbox = try #require(app.outbox)
        let (notes, json) = (app.service("notes", of: Note.self), app.service("notes"))
        try await withFeathersApp(app) { app in
            // Now there are stored rows.
            let live = await app.asOwnUser { json.live() }
            for try await rows in live where !rows.isEmpty { break }
            let before = transport.requests.count
            #expect(await refuses { for try await _ in json.live() {} })
            #expect(await refuses { for try await _ in notes.live(.limit(1)).snapshots {} })
            #expect(await refuses { try await notes.draft(1) })
            #expect(await refuses { try await notes.draft(Note(id: 1, text: "")) })
            #expect(await refuses { try await json.outbox.create(["text": "a"]) })
            #expect(await refuses { try await json.outbox.patch(1, with: ["text": "a"]) })
            #expect(await refuses { try await json.outbox.remove(1) })
            #expect(await refuses { try await json.outbox.call("archive") })
            #expect(transport.requests.count == before && outbox.state.entries.isEmpty)
            // Where a live query is created decides, not where it is read.
            let outside = json.live()
            await app.asOwnUser { #expect(await refuses { for try await _ in outside {} }) }
            for try await rows in live where !rows.isEmpty {
                #expect(rows.first?["text"] == "own")
                break
            }
            // A draft of the app's own, and one for a user.
            var own = try await app.asOwnUser { try await notes.draft(1) }
            own.text = "changed"
            try await own.save()
            var theirs = try await app.withToken("theirs") { try await notes.draft(1) }
            theirs.text = "changed"
            try await theirs.save()
            let fields = transport.calls(of: "notes", .patch).map { $0.request.params.headers["Authorization"] }
            #expect(fields == ["Bearer own", "Bearer theirs"])
            // A queued write is sent as the app's user, and waits for no mark.
            let write = try await app.asOwnUser { try await json.outbox.create(["text": "queued"]) }
            #expect(try await write.result()["text"] == "own")
        }
        await outbox.close()
    }

    @Test func `Related records of a marked live query are read`() async throws {
        let app = try await app(transport)
        let author = Note.relation(to: Note.self, at: "users", by: .text)
        let live = await app.asOwnUser { app.service("notes", of: Note.self).live().including(author) }
        try await withFeathersApp(app) { _ in
            for try await snapshot in live.snapshots where !snapshot.rows.isEmpty { break }
        }
        let fields = transport.calls(of: "users").map { $0.request.params.headers["Authorization"] }
        #expect(fields.first == "Bearer own")
    }

    @Test func `Endpoints, uploads and event sources are refused, to every server`() async throws {
        let http = StubHTTPClient { HTTPResponse(status: 200, body: Array("{}".utf8), url: $0.url) }
        let url = try #require(URL(string: "https://api.example.com"))
        let app = try await app(RESTTransport.rest(url, httpClient: http), signsIn: false)
        try await app.use(.rest(url, httpClient: http), at: "same")
        let calls: [@Sendable (String) async throws -> Void] = [
            { _ in _ = try await app.request(Endpoint<JSONValue>(.get, "health")) },
            { _ in _ = try await app.request(Endpoint<JSONValue>(.get, "https://other.example.com/health")) },
            { _ in _ = try await app.response(to: Endpoint<JSONValue>(.delete, "health")) },
            { _ in _ = try await app.service("notes").upload(.text("note")) },
            { _ in _ = try await app.service("same").get(1) },
        ]
        for call in calls { #expect(await refuses { try await call("") }) }
        #expect(await refuses { for try await _ in app.eventSource("events", as: JSONValue.self) {} })
        #expect(http.requests.isEmpty)
        for call in calls { try await app.asOwnUser { try await call("") } }
        for call in calls { try await app.withToken("theirs") { try await call("") } }
        let fields = http.requests.filter { $0.url.host() == "api.example.com" }.map { $0.headers["Authorization"] }
        #expect(fields == [nil, nil, nil, nil] + Array(repeating: "Bearer theirs", count: 4))
    }

    @Test func `Pages of JSON:API keep the user in whose scope they were created`() async throws {
        let http = StubHTTPClient { request in
            let next = request.url.query() == nil ? #""next":"https://api.example.com/posts?page=2""# : ""
            return HTTPResponse(
                status: 200, headers: HTTPHeaders(received: [("Content-Type", "application/vnd.api+json")]),
                body: Array(#"{"data":[],"links":{\#(next)}}"#.utf8), url: request.url)
        }
        let url = try #require(URL(string: "https://api.example.com"))
        let app = try await app(JSONAPITransport.jsonAPI(url, httpClient: http), signsIn: false)
        let posts = app.jsonAPI(Post.self)
        #expect(await refuses { try await posts.find() })
        #expect(await refuses { for try await _ in posts.pages() {} })
        #expect(http.requests.isEmpty)
        let pages = await app.withToken("theirs") { posts.pages() }
        for try await _ in pages {}
        #expect(http.requests.map { $0.headers["Authorization"] } == ["Bearer theirs", "Bearer theirs"])
    }

    @Test(arguments: TokenOriginTests.Way.allCases)
    func `Every transport refuses a call without a token, without a connection`(way: TokenOriginTests.Way) async throws
    {
        let http = StubHTTPClient { HTTPResponse(status: 200, body: Array("[]".utf8), url: $0.url) }
        let url = try #require(URL(string: "https://api.example.com"))
        let app = try await app(way.make(url, http), signsIn: false)
        #expect(await refuses { try await app.service("notes").find() })
        #expect(await refuses { try await app.service("notes").remove(1) })
        #expect(await refuses { try await app.service("notes").call("archive", with: .null) })
        #expect(http.requests.isEmpty)
    }

    @Test func `A cached local service is refreshed for the user who read it`() async throws {
        actor Facade: ServiceProtocol {
            let app: FeathersApp
            init(_ app: FeathersApp) { self.app = app }
            func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
                try await app.service("notes").get(id)
            }
        }
        let app = try await app(transport)
        app.use(cache: ServiceCache(policy: .cacheFirstNetworkRefresh))
        try await app.use(Facade(app), at: "facade")
        try await withFeathersApp(app) { app in
            for _ in 1...2 { _ = try await app.withToken("theirs") { try await app.service("facade").get(1) } }
            try await transport.waitForRequest(number: 3)
        }
        let fields = transport.calls(of: "notes").map { $0.request.params.headers["Authorization"] }
        #expect(fields == ["Bearer theirs", "Bearer theirs"])
        try await app.unuse("facade")
    }
}

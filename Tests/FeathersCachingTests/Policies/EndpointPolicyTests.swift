import FeathersCaching
import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@Suite("A cache policy of an endpoint")
struct EndpointPolicyTests {
    struct Report: Codable, Hashable, Sendable { var year: Int }

    private let client = StubHTTPClient()
    private let cache = ServiceCache(
        policy: .cacheFirstNetworkIfNotFoundOrExpired, expiration: .after(.seconds(60)))
    private let report = Endpoint<Report>(.get, "reports/latest")
    private let cached = Params.caching(.cacheFirstNetworkIfNotFoundOrExpired)

    private func app(headers: [String: String] = [:]) throws -> FeathersApp {
        let url = try #require(URL(string: "http://home:3030"))
        let app = FeathersApp(transport: .rest(url, headers: headers, httpClient: client))
        app.use(cache: cache)
        return app
    }

    /// Answers with another year each time.
    private func count(headers: [String: String] = [:]) {
        client.stub(
            method: "GET",
            with: .cycle((2001...2009).map { .json(["year": .integer($0)], headers: headers) }))
    }

    @Test("stores a GET's response; without one, every call is sent, whatever the cache's own policy")
    func stores() async throws {
        count()
        let app = try app()
        #expect(try await app.request(report) == Report(year: 2001))
        #expect(try await app.request(report, params: cached) == Report(year: 2002))
        #expect(try await app.request(report, params: cached) == Report(year: 2002))
        #expect(try await app.request(report) == Report(year: 2003))
        #expect(try await app.request(report, params: .caching(.cacheOnly)) == Report(year: 2002))
        let response = try await app.response(to: report, params: cached)
        #expect(response.status == 200 && response.headers.isEmpty && response.url.path() == "/reports/latest")
        await cache.invalidate(group: "reports/latest")
        #expect(try await app.request(report, params: cached) == Report(year: 2004))
    }

    @Test("separates entries by URL, header fields, the way of reading and the transport's fields")
    func keys() async throws {
        client.stub(
            method: "GET",
            with: HTTPStub { request in
                HTTPResponse(status: 200, headers: HTTPHeaders(), body: Array(#"{"year":1}"#.utf8), url: request.url)
            })
        var items = report
        items.queryItems = [URLQueryItem(name: "a", value: "1"), URLQueryItem(name: "a", value: "2")]
        let away = try #require(URL(string: "http://" + "away"))
        let others = [
            report, items, Endpoint(.get, "reports/latest", query: ["a": 1]),
            Endpoint(.get, "reports/:when", route: ["when": "latest"], query: ["a": 2]),
            Endpoint(.get, "reports/latest", headers: ["X-Region": "north"]),
            Endpoint(.get, "reports/latest", baseURL: away),
            Endpoint(.get, "http://home:3030/reports/latest?a=3"),
        ]
        let app = try app()
        for _ in 1...2 {
            for endpoint in others { _ = try await app.request(endpoint, params: cached) }
            #expect(try await app.request(Endpoint<String>(.get, "reports/latest"), params: cached) == #"{"year":1}"#)
        }
        #expect(client.requests.count == others.count + 1)
        _ = try await self.app(headers: ["X-Tenant": "blue"]).request(report, params: cached)
        #expect(client.requests.count == others.count + 2)
    }

    @Test("separates entries by user")
    func users() async throws {
        count()
        let app = try app()
        for user in ["ada", "grace"] {
            app.setIdentity(Identity(user))
            _ = try await app.request(report, params: cached)
        }
        #expect(try await app.request(report, params: cached) == Report(year: 2002))
        app.setIdentity(Identity("ada"))
        #expect(try await app.request(report, params: cached) == Report(year: 2001))
    }

    @Test("can be set for its path, with the group of a service whose writes then invalidate it")
    func group() async throws {
        count()
        client.stub("/messages", "POST", with: .json(["id": 1]))
        cache["reports/latest"] = ServiceCacheOptions(policy: .networkFirstCacheIfFailed, group: "messages")
        let app = try app()
        #expect(try await app.request(report) == Report(year: 2001))
        client.stub(method: "GET", with: .status(503))
        #expect(try await app.request(report) == Report(year: 2001))
        try await app.service("messages").create(["text": "Hi"])
        await #expect(throws: FeathersError.self) { try await app.request(report) }
    }

    @Test("asks the server whether an expired response is still current")
    func revalidates() async throws {
        client.stub(
            method: "GET",
            with: HTTPStub { request in
                let isHeld = request.headers["If-None-Match"] == "\"1\""
                return HTTPResponse(
                    status: isHeld ? 304 : 200, headers: HTTPHeaders(received: [("ETag", "\"1\"")]),
                    body: isHeld ? [] : Array(#"{"year":1}"#.utf8), url: request.url)
            })
        let app = try app()
        for policy in [CachePolicy.networkOnlyUpdateCache, .cacheFirstNetworkAlways, .cacheFirstNetworkAlways] {
            #expect(try await app.request(report, params: .caching(policy)) == Report(year: 1))
        }
        #expect(client.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", "\"1\""])
    }

    @Test("that only reads from the cache fails without an entry, and names the endpoint")
    func missing() async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await app().request(report, params: .caching(.cacheOnly))
        }
        #expect(error.code == .notInCache && error.message.contains("'GET' on endpoint 'reports/latest'"))
        #expect(client.requests.isEmpty)
    }

    @Test(
        "is refused before anything is sent if the response cannot be stored",
        arguments: CachePolicy.allCases.filter { $0 != .networkOnlyNoCache })
    func refused(policy: CachePolicy) async throws {
        let app = try app()
        let params = Params.caching(policy)
        let refused: [@Sendable () async throws -> Void] = [
            { _ = try await app.request(Endpoint<Data>(.get, "reports"), params: params) },
            { _ = try await app.request(Endpoint<JSONValue>(.post, "reports"), params: params) },
            { _ = try await app.request(Endpoint<JSONValue>(.get, "reports", body: .json(["a": 1])), params: params) },
        ]
        for call in refused {
            let error = try await #require(throws: FeathersError.self) { try await call() }
            #expect(error.code == .badRequest && error.execution == .neverSent)
            #expect(error.message.contains("'\(policy.rawValue)'") && error.message.contains("'reports'"))
        }
        #expect(client.requests.isEmpty)
    }
}

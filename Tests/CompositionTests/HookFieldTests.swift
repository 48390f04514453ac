import Feathers
import FeathersTesting
import Foundation
import Testing

/// What the hooks of an app add to header fields goes where its token goes.
@Suite(.timeLimit(.minutes(5))) struct HookFieldTests {
    private static let own = "https://api.example.com"
    private static let other = "https://other.example.com"

    private static func adding(_ name: String, _ value: String) -> Hook { { $0.params.headers[name] = value } }

    private func scene(trusting: [String] = [], _ hooks: Hooks) async throws -> (app: FeathersApp, http: StubHTTPClient)
    {
        let http = StubHTTPClient { HTTPResponse(status: 200, body: Array("[]".utf8), url: $0.url) }
        let own = try #require(URL(string: Self.own))
        let other = try #require(URL(string: Self.other))
        let app = FeathersApp(transport: .rest(own, httpClient: http))
        app.use(hooks: hooks)
        let origins = try trusting.map { try #require(URL(string: $0)) }
        try app.use(
            authentication: AuthenticationOptions(storage: InMemoryTokenStorage()) { $0.trustedOrigins = origins })
        try await app.use(.rest(other, httpClient: http), at: "reports")
        return (app, http)
    }

    static let hooks: [Hooks] = [
        Hooks(before: [.all: [adding("Authorization", "s3cret"), adding("X-Tenant", "a")]]),
        Hooks(before: ["find": [adding("Authorization", "s3cret"), adding("X-Tenant", "a")]]),
        Hooks(
            around: [
                .all: [
                    { context, next in
                        context.params.headers["Authorization"] = "s3cret"
                        context.params.headers["X-Tenant"] = "a"
                        try await next(&context)
                    }
                ]
            ]),
    ]

    @Test(arguments: hooks.indices)
    func `Fields of the app's hooks reach the own server, and no other`(index: Int) async throws {
        let (app, http) = try await scene(Self.hooks[index])
        _ = try await app.service("notes").find()
        _ = try await app.service("reports").find()
        #expect(http.requests.map { $0.headers["Authorization"] } == ["s3cret", nil])
        #expect(http.requests.map { $0.headers["X-Tenant"] } == ["a", nil])
    }

    @Test func `They reach a server that the app trusts`() async throws {
        let (app, http) = try await scene(trusting: [Self.other], Self.hooks[0])
        _ = try await app.service("reports").find()
        #expect(http.requests.map { $0.headers["X-Tenant"] } == ["a"])
    }

    @Test
    func `Fields of the call, of the service's hooks, of tracing, and those that tell nothing about the sender stay`()
        async throws
    {
        let (app, http) = try await scene(
            Hooks(before: [
                .all: [
                    Self.adding("traceparent", "00-1"), Self.adding("Accept-Language", "de"),
                    Self.adding("X-Harmless", "h"), Self.adding("X-Call", "hook"),
                ]
            ]))
        app.harmlessHeaders = ["X-Harmless"]
        await app.service("reports").use(hooks: Hooks(before: ["find": [Self.adding("X-API-Key", "key")]]))
        _ = try await app.service("reports").find(params: Params(headers: ["X-Own": "1"]))
        let headers = try #require(http.requests.first).headers
        #expect(headers["traceparent"] == "00-1" && headers["Accept-Language"] == "de")
        #expect(headers["X-Harmless"] == "h" && headers["X-API-Key"] == "key" && headers["X-Own"] == "1")
        #expect(headers["X-Call"] == nil)
    }
}

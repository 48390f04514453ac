import FeathersAuthentication
import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import FeathersREST
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Signed in at a JSON:API server", .timeLimit(.minutes(10)))
struct JSONAPIAuthenticationTests {
    @Test(
        "the token of the backend's authentication service lets calls through, until it is given back",
        .inTurn, .enabled(if: !TestBackend.isSkipped))
    func backend() async throws {
        let app = try await Backend.app(JSONAPISettings { $0.access = "signed-in" })
        // The JSON:API server takes the tokens of this package's own backends alone.
        let backend = TestBackend(variables: [:])
        try await app.use(.rest(try await backend.url()), at: "authentication")
        try app.use(authentication: AuthenticationOptions())
        let posts = app.jsonAPI(Backend.Post.self)
        let refused = try await #require(throws: FeathersError.self) { try await posts.get("1") }
        #expect(refused.code == .notAuthenticated)
        #expect(refused.jsonAPIErrors.map(\.source?.header) == ["Authorization"])

        try await app.authenticate(.local(email: "alice@example.com", password: "p4ssw0rd"))
        #expect(try await posts.get("1").title == "About Arrays")
        #expect(try await posts.relationship("comments", ofID: "1").relatedList(of: Backend.Comment.self).count == 8)
        var batch = JSONAPIBatch(codec: posts.codec)
        batch.remove(JSONAPIIdentifier(type: "posts", id: "2"))
        try await app.send(batch)

        try await app.logOut()
        await #expect { try await posts.get("1") } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        withExtendedLifetime(backend) {}
    }

    @Test(
        "the sign-in itself may be a resource; a token that is not taken any more is exchanged, and the call made again"
    )
    func resources() async throws {
        let http = StubHTTPClient()
        http.stub(
            "/authentication", "POST",
            with: .json(
                ["data": ["type": "authentication", "id": "1", "attributes": ["accessToken": "first"]]], status: 201))
        http.stub(
            "/articles/1", "GET",
            with: .choose { request in
                request.headers["Authorization"] == "Bearer second"
                    ? .json(["data": ["type": "articles", "id": "1", "attributes": ["title": "T"]]])
                    : .json(["errors": [["status": "401", "detail": "jwt expired"]]], status: 401)
            })
        let app = FeathersApp(transport: .jsonAPI(try #require(URL(string: "https://example.com")), httpClient: http))
        let refresh = TokenRefresh.function { _ in .tokens(AuthenticationTokens(accessToken: "second")) }
        try app.use(authentication: AuthenticationOptions(refresh: refresh))
        try await withFeathersApp(app) { app in
            try await app.authenticate(.local(email: "a@example.com", password: "p"))
            #expect(try await app.jsonAPI(Article.self).get("1").title == "T")
        }
        #expect(
            http.requests.map { "\($0.method) \($0.url.path()) \($0.headers["Authorization"] ?? "-")" } == [
                "POST /authentication -", "GET /articles/1 Bearer first", "GET /articles/1 Bearer second",
            ])
        #expect(
            try JSONValue(parsing: http.requests[0].body ?? [])["data"] == [
                "type": "authentication",
                "attributes": ["strategy": "local", "email": "a@example.com", "password": "p"],
            ])
    }
}

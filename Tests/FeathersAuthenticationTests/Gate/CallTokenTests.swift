import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// Calls with a token of their own, beside the app's own user.
@Suite(.timeLimit(.minutes(10))) struct CallTokenTests {
    private let storage = InMemoryTokenStorage(["feathers-jwt": "own"])

    private func sent(_ server: SampleServer) -> [String?] {
        server.requests(to: "messages").map { $0.params.headers["Authorization"] }
    }

    @Test func `Precedence is: the call's header or token, then the scope, then the app's user`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let messages = app.service("messages")
        _ = try await messages.rawFind()
        try await app.withToken("scope") {
            _ = try await messages.rawFind()
            _ = try await messages.rawFind(params: Params(token: "call"))
            _ = try await messages.rawFind(params: Params(headers: ["authorization": "Bearer header"]))
            _ = try await app.asOwnUser { try await messages.rawFind() }
            async let child = messages.rawFind()
            _ = try await child
        }
        _ = try await messages.rawFind()
        let fields = server.requests(to: "messages").map {
            $0.params.headers["Authorization"] ?? $0.params.headers["authorization"]
        }
        let expected = ["own", "scope", "call", "header", "own", "scope", "own"].map { "Bearer \($0)" }
        #expect(fields == expected)
    }

    @Test func `The token is sent as the app sends its own, and as Bearer without authentication`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage) { ($0.header, $0.scheme) = ("X-Token", "") }
        _ = try await app.service("messages").rawFind(params: Params(token: "theirs"))
        #expect(server.requests(to: "messages").first?.params.headers == ["X-Token": "theirs"])
        #expect(server.requests(to: "authentication").isEmpty)
        let transport = StubTransport { _ in nil }
        _ = try await FeathersApp(transport: transport).service("messages").rawFind(params: Params(token: "theirs"))
        #expect(transport.requests.map(\.params.headers) == [["Authorization": "Bearer theirs"]])
    }

    @Test func `A refusal is thrown, and neither refreshes nor ends the app's sign-in`() async throws {
        let server = SampleServer(.init(rejected: ["theirs"]))
        let app = FeathersApp(transport: server.transport)
        try app.use(
            authentication: AuthenticationOptions(
                storage: storage, refresh: .function { _ in .tokens(.init(accessToken: "new")) }))
        _ = try await app.service("messages").rawFind()
        for _ in 1...2 {
            let error = await failure { try await app.service("messages").rawFind(params: Params(token: "theirs")) }
            #expect(error?.code == .notAuthenticated)
        }
        #expect(sent(server) == ["Bearer own", "Bearer theirs", "Bearer theirs"])
        #expect(app.authentication.result?.accessToken == "own")
        #expect(try await storage.token(for: "feathers-jwt") == "own")
    }

    @Test func `Hooks that replace the params, and calls within hooks, do not make it the app's user's`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        app.use(
            hooks: Hooks(before: [
                { context in
                    guard context.path == "messages" else { return }
                    _ = try await context.app.service("audit").rawFind()
                    context.params = Params()
                }
            ]))
        _ = try await app.service("messages").rawFind(params: Params(token: "theirs"))
        #expect(sent(server) == ["Bearer theirs"])
        #expect(server.requests(to: "audit").map { $0.params.headers["Authorization"] } == ["Bearer theirs"])
    }

    @Test func `A hook may set the token of a call`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        app.use(hooks: Hooks(before: [{ $0.params.token = "theirs" }]))
        _ = try await app.service("messages").rawFind()
        #expect(sent(server) == ["Bearer theirs"])
    }

    @Test func `A call has a token or the header field, not both`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let params = Params(headers: ["AUTHORIZATION": "Bearer one"], token: "another")
        let error = await failure { try await app.service("messages").rawFind(params: params) }
        #expect(error?.code == .badRequest && error?.execution == .neverSent)
        #expect(server.transport.requests.isEmpty)
    }

    @Test(arguments: ["", "a b", "a\r\nX-Admin: 1", "é"])
    func `A token that no header allows is refused and not printed`(token: String)
        async throws
    {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let error = await failure { try await app.service("messages").rawFind(params: Params(token: token)) }
        #expect(error?.code == .badRequest && error?.execution == .neverSent)
        if !token.isEmpty { #expect(!"\(String(describing: error))".contains(token)) }
        #expect(server.transport.requests.isEmpty)
    }

    @Test func `Printing shows no token`() {
        let params = Params(token: "s3cret")
        var text = "\(params)"
        dump(params, to: &text)
        #expect(!text.contains("s3cret"))
    }

    @Test func `Signing in, refreshing and logging out within a scope are the app's own`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        try await app.withToken("scope") {
            try await app.authenticate(.local(email: "a", password: "p"))
            try await app.logOut()
        }
        let fields = server.requests(to: "authentication").map { $0.params.headers["Authorization"] }
        #expect(fields == [nil, "Bearer issued"])
    }

    @Test func `Streams and pages that are read after the scope keep its token`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let messages = app.service("messages")
        let (stream, pages) = await app.withToken("scope") { (messages.stream(.find), messages.pages(of: 1)) }
        for try await _ in stream {}
        var iterator = pages.makeAsyncIterator()
        _ = try? await iterator.next()
        #expect(sent(server) == ["Bearer scope", "Bearer scope"])
    }

    @Test func `Streams and pages that are read within another scope stay the app's own`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let messages = app.service("messages")
        let (stream, pages) = (messages.stream(.find), messages.pages(of: 1))
        try await app.withToken("scope") {
            for try await _ in stream {}
            var iterator = pages.makeAsyncIterator()
            _ = try? await iterator.next()
        }
        #expect(sent(server) == ["Bearer own", "Bearer own"])
    }

    @Test func `Where calls need a token, one that has lost its scope is not made as the app's user`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage) { $0.requiresToken = true }
        try await app.reauthenticate()
        let messages = app.service("messages")
        let body = await app.withToken("theirs") {
            _ = try? await messages.rawFind()
            // The body of a response is written when the scope has ended.
            return Task.detached { await failure { try await messages.rawFind() } }
        }
        let error = await body.value
        #expect(error?.code == .notAuthenticated && error?.execution == .neverSent)
        #expect(error?.message.contains("'find' on service 'messages'") == true)
        _ = try await app.asOwnUser { try await messages.rawFind() }
        _ = try await messages.rawFind(params: Params(token: "call"))
        #expect(sent(server) == ["Bearer theirs", "Bearer own", "Bearer call"])
        // Live queries are the app's own. This server's result is none, so the server counts as unreachable.
        var live = await app.asOwnUser { messages.live() }.makeAsyncIterator()
        let shown = await failure { try await live.next() }
        #expect(shown?.code == .unavailable)
        #expect(sent(server).last == "Bearer own")
    }

    @Test func `A live query that is made in a scope is refused, wherever it is read`() async throws {
        let app = try FeathersApp.sample(SampleServer(), storage: storage)
        let live = await app.withToken("theirs") { app.service("messages").live() }
        let error = await failure {
            var results = live.makeAsyncIterator()
            _ = try await results.next()
        }
        #expect(error?.code == .badRequest && error?.execution == .neverSent)
    }

    @Test func `Another server gets no token, nor do the calls of another app`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let http = StubHTTPClient { HTTPResponse(status: 200, body: Array("[]".utf8), url: $0.url) }
        let url = try #require(URL(string: "https://other.example.com"))
        try await app.use(.rest(url, httpClient: http), at: "foreign")
        let other = FeathersApp(transport: RESTTransport.rest(url, httpClient: http))
        try await app.withToken("scope") {
            _ = try await app.service("foreign").find()
            _ = try await other.service("messages").find()
        }
        #expect(http.requests.map { $0.headers["Authorization"] } == [nil, nil])
    }

    @Test func `A local service that passes its params on leaks no token`() async throws {
        let http = StubHTTPClient { HTTPResponse(status: 200, body: Array("[]".utf8), url: $0.url) }
        let url = try #require(URL(string: "https://other.example.com"))
        let other = FeathersApp(transport: RESTTransport.rest(url, httpClient: http))
        actor Forwarding: ServiceProtocol {
            let app: FeathersApp
            init(app: FeathersApp) { self.app = app }
            func find(_ params: Params) async throws -> JSONValue {
                try await app.service("messages").rawFind(params: params)
            }
        }
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        try await app.use(Forwarding(app: other), at: "local")
        _ = try await app.service("local").find(params: Params(token: "theirs"))
        #expect(http.requests.map { $0.headers["Authorization"] } == [nil])
    }

    @Test func `The app's subscribers do not see what the server told another user`() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        var events = app.service("messages").events(.created).makeAsyncIterator()
        _ = try await app.service("messages").create([:], params: Params(token: "theirs"))
        _ = try await app.service("messages").create([:])
        #expect(await events.next() == ["authorization": "Bearer own"])
    }
}

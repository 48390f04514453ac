import Feathers
import FeathersJSONAPI
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

/// Tokens of calls together with every transport, and with what belongs to the app's own user.
@Suite(.timeLimit(.minutes(10))) struct CallTokenCompositionTests {
    private let http = StubHTTPClient { request in
        let user = request.headers["Authorization"] ?? "none"
        return HTTPResponse(
            status: 200, body: Array(#"{"data":[],"jsonapi":{"meta":{"user":"\#(user)"}}}"#.utf8), url: request.url)
    }

    @Test(arguments: TokenOriginTests.Way.allCases) func `A token goes over HTTP, or the call is refused`(
        way: TokenOriginTests.Way
    )
        async throws
    {
        let url = try #require(URL(string: "https://api.example.com"))
        let app = FeathersApp(transport: way.make(url, http))
        try app.use(authentication: AuthenticationOptions())
        let error = await failure {
            try await app.withToken("theirs") {
                try await app.service("notes").find(params: Params(timeout: .seconds(600)))
            }
        }
        if way == .socketIO {
            #expect(error?.code == .badRequest && error?.execution == .neverSent)
            #expect(error?.message.contains("a token of its own") == true)
        } else {
            #expect(error == nil)
        }
        #expect(http.requests.map { $0.headers["Authorization"] } == (way == .socketIO ? [] : ["Bearer theirs"]))
    }

    @Test func `Endpoints and uploads carry it, to the app's own server only`() async throws {
        let url = try #require(URL(string: "https://api.example.com"))
        let app = FeathersApp(transport: RESTTransport.rest(url, httpClient: http))
        try await app.withToken("theirs") {
            try await app.request(Endpoint<JSONValue>(.get, "health"))
            try await app.request(Endpoint<JSONValue>(.get, "https://other.example.com/health"))
            _ = try await app.service("notes").upload(.text("note"))
        }
        #expect(http.requests.map { $0.headers["Authorization"] } == ["Bearer theirs", nil, "Bearer theirs"])
    }

    /// Unsigned tokens with the same claims: one is real, and the other forged.
    private let tokens = ["real", "forged"].map { ModelToken.make(["sub": "alice", "mark": .string($0)]) }

    @Test func `A forged token that names a user reads nothing of that user's cache`() async throws {
        let transport = StubTransport { .string($0.params.headers["Authorization"] ?? "none") }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: InMemoryTokenStorage(["feathers-jwt": tokens[0]])))
        app.use(cache: ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired))
        let notes = app.service("notes")
        transport.stub(
            "authentication", .create, with: .value(["accessToken": .string(tokens[0]), "user": ["id": "alice"]]))
        for _ in 1...2 {
            #expect(try await notes.get(1) == .string("Bearer \(tokens[0])"))
            for token in tokens {
                #expect(try await notes.get(1, params: Params(token: token)) == .string("Bearer \(token)"))
            }
        }
        #expect(transport.requests.filter { $0.path == "notes" }.count == 3)
    }

    @Test func `Coalesced reads are those of one token`() async throws {
        let clock = ManualClock()
        let transport = StubTransport { request in
            try await clock.sleep(for: .seconds(1))
            return .string(request.params.headers["Authorization"] ?? "none")
        }
        let app = FeathersApp(transport: transport)
        app.use(hooks: .coalescingReads())
        let tokens = tokens
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, token) in tokens.enumerated() {
                group.addTask {
                    let result = try await app.withToken(token) { try await app.service("notes").get(1) }
                    #expect(result == .string("Bearer \(token)"))
                }
                try await transport.waitForRequest(number: number + 1)
            }
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
    }

    @Test func `Live queries, the outbox and the app's lifetime refuse it, with a reason`() async throws {
        let folder = try TemporaryFolder()
        let outbox = try await Outbox(file: folder.url.appending(path: "writes.outbox"))
        let transport = StubTransport { _ in [] }
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        let notes = app.service("notes")
        let refusals = await app.withToken("theirs") {
            [
                await failure { for try await _ in notes.live() {} },
                await failure { _ = try await notes.outbox.create([:]) },
                await failure { try await withFeathersApp(app) { _ in } },
                await failure { try await app.run() },
            ]
        }
        for refusal in refusals + [await failure { for try await _ in notes.live(params: Params(token: "theirs")) {} }]
        {
            #expect(refusal?.code == .badRequest && refusal?.execution == .neverSent)
            #expect(refusal?.message.contains("belongs to the app's user") == true)
        }
        #expect(transport.requests.isEmpty)
        await outbox.close()
    }

    @Test func `A live query with the header field of the app's authentication is refused too`() async throws {
        let app = FeathersApp(transport: StubTransport { _ in [] })
        try app.use(authentication: AuthenticationOptions())
        let params = Params(headers: ["authorization": "Bearer theirs"])
        let refusal = await failure { for try await _ in app.service("notes").live(params: params) {} }
        #expect(refusal?.code == .badRequest && refusal?.execution == .neverSent)
    }

    @Test func `A queued write stays its user's, even if a hook sets a token`() async throws {
        let folder = try TemporaryFolder()
        let outbox = try await Outbox(file: folder.url.appending(path: "writes.outbox"))
        let transport = StubTransport { _ in [:] }
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        app.use(hooks: Hooks(before: [{ $0.params.token = "theirs" }]))
        try await withFeathersApp(app) { app in
            _ = try await app.service("notes").outbox.create(["text": "whose?"])
            for await state in outbox.stateUpdates() {
                guard let failure = state.entries.first?.failure else { continue }
                #expect(failure.error.code == .badRequest)
                break
            }
        }
        #expect(transport.requests.isEmpty)
        await outbox.close()
    }
}

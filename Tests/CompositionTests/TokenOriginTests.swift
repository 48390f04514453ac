import Feathers
import FeathersCore
import FeathersJSONAPI
import FeathersTesting
import Foundation
import Testing

/// A token goes only to the origin that issued it, whatever storage apps share.
@Suite(.timeLimit(.minutes(10))) struct TokenOriginTests {
    static let server = "https://api.example.com"
    static let other = "https://other.example.com"

    /// A transport to a server.
    enum Way: String, Sendable, CaseIterable {
        case rest, socketIO, mixed, feathers6, jsonAPI

        func make(_ url: URL, _ http: StubHTTPClient) -> any Transport {
            switch self {
            case .rest: RESTTransport.rest(url, httpClient: http)
            case .socketIO: SocketIOTransport.socketIO(url)
            case .mixed: MixedTransport.mixed(realTime: .socketIO(url), rest: .rest(url, httpClient: http))
            case .feathers6: Feathers6Transport.feathers6(url) { $0.httpClient = http }
            case .jsonAPI: JSONAPITransport.jsonAPI(url, httpClient: http)
            }
        }
    }

    /// A storage of the program's own.
    private actor OwnStorage: TokenStorage {
        private var tokens: [String: String] = [:]

        func token(for key: String) -> String? { tokens[key] }
        func store(_ token: String, for key: String) { tokens[key] = token }
        func remove(for key: String) { tokens[key] = nil }
    }

    private let folder: TemporaryFolder
    /// All servers: each issues a token that names it, and answers other calls with an empty list.
    private let http = StubHTTPClient { request in
        guard request.url.lastPathComponent == "authentication" else {
            return HTTPResponse(status: 200, body: Array("[]".utf8), url: request.url)
        }
        let answer: JSONValue = ["accessToken": .string(Self.token(of: request.url.host() ?? "")), "user": ["id": 1]]
        return HTTPResponse(status: 201, body: try answer.serialized(), url: request.url)
    }

    init() throws { folder = try TemporaryFolder() }

    private static func token(of host: String) -> String {
        ModelToken.make(["sub": .string(host), "exp": 4_000_000_000])
    }

    /// The user of the token that an app finds in its storage.
    private func identity(_ app: FeathersApp) async -> String? { await app.resolvedIdentity()?.name }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func app(_ transport: any Transport, _ storage: any TokenStorage) throws -> FeathersApp {
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: storage))
        return app
    }

    private func rest(_ server: String, _ storage: any TokenStorage) throws -> FeathersApp {
        try app(RESTTransport.rest(try url(server), httpClient: http), storage)
    }

    private func storages() -> [any TokenStorage] {
        [InMemoryTokenStorage(), OwnStorage(), FileTokenStorage(directory: folder.url)]
    }

    @Test(arguments: Way.allCases) func `No app takes the token of another server from a shared storage`(way: Way)
        async throws
    {
        for storage in storages() {
            try await rest(Self.server, storage).authenticate(.local(email: "a@example.com", password: "p"))
            let stranger = try app(way.make(try url(Self.other), http), storage)
            #expect(await identity(stranger) == nil)
            await #expect {
                try await stranger.reauthenticate()
            } throws: { ($0 as? FeathersError)?.message == "No accessToken found in storage" }
            let friend = try app(way.make(try url(Self.server), http), storage)
            #expect(await identity(friend) == "api.example.com")
        }
    }

    @Test func `Apps of two servers stay signed in in one storage`() async throws {
        for storage in storages() {
            for server in [Self.server, Self.other] {
                try await rest(server, storage).authenticate(.local(email: "a@example.com", password: "p"))
            }
            // As after a restart.
            let (app, other) = (try rest(Self.server, storage), try rest(Self.other, storage))
            let count = http.requests.count
            for app in [app, other] { _ = try await app.service("messages").find() }
            let sent = http.requests.dropFirst(count).map { request in
                let field = request.headers["Authorization"] ?? String(decoding: request.body ?? [], as: UTF8.self)
                return (host: request.url.host() ?? "", isOwn: field.contains(Self.token(of: request.url.host() ?? "")))
            }
            #expect(
                sent.map(\.host) == ["api.example.com", "api.example.com", "other.example.com", "other.example.com"])
            #expect(sent.filter { !$0.isOwn }.isEmpty)
            try await app.logOut()
            #expect(try await identity(rest(Self.server, storage)) == nil)
            #expect(try await identity(rest(Self.other, storage)) == "other.example.com")
            try await other.logOut()
        }
    }

    @Test(arguments: ["HTTPS://API.example.com:443/v2", "https://ann:secret@api.example.com"])
    func `The path and the user of a URL make no other server`(_ text: String) async throws {
        let storage = InMemoryTokenStorage()
        try await rest(Self.server, storage).authenticate(.local(email: "a@example.com", password: "p"))
        #expect(try await identity(rest(text, storage)) == "api.example.com")
    }

    @Test(arguments: ["http://api.example.com", "https://api.example.com:8443", "https://example.com"])
    func `Scheme, host and port do`(_ text: String) async throws {
        let storage = InMemoryTokenStorage()
        try await rest(Self.server, storage).authenticate(.local(email: "a@example.com", password: "p"))
        #expect(try await identity(rest(text, storage)) == nil)
    }

    @Test(arguments: Way.allCases) func `A token without an origin is used by apps without a server only`(way: Way)
        async throws
    {
        let storage = InMemoryTokenStorage(["feathers-jwt": Self.token(of: "nowhere")])
        #expect(try await identity(app(way.make(try url(Self.server), http), storage)) == nil)
        #expect(try await identity(app(StubTransport(), storage)) == "nowhere")
    }

    @Test func `The origin is that of the authentication service`() async throws {
        let storage = InMemoryTokenStorage()
        let accounts = "https://accounts.example.com"
        func app(_ accounts: String) async throws -> FeathersApp {
            let app = try rest(Self.server, storage)
            try await app.use(.rest(try url(accounts), httpClient: http), at: "authentication")
            return app
        }
        try await app(accounts).authenticate(.local(email: "a@example.com", password: "p"))
        #expect(try await identity(app(accounts)) == "accounts.example.com")
        #expect(try await identity(app(Self.other)) == nil)
        #expect(try await identity(rest(Self.server, storage)) == nil)
        #expect(try await storage.token(for: "feathers-jwt https://accounts.example.com") != nil)
    }

    @Test func `An app without a transport has the origin of its endpoints`() async throws {
        let storage = InMemoryTokenStorage()
        try await rest(Self.server, storage).authenticate(.local(email: "a@example.com", password: "p"))
        for (server, user) in [(Self.server, "api.example.com"), (Self.other, nil as String?)] {
            let app = FeathersApp()
            app.endpointTransport = .rest(try url(server), httpClient: http)
            try app.use(authentication: AuthenticationOptions(storage: storage))
            #expect(await identity(app) == user)
        }
    }
}

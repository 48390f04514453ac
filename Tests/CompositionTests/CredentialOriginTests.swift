import Feathers
import FeathersJSONAPI
import FeathersTesting
import Foundation
import Testing

/// An app's token goes to the app's own server and to those it lists, whatever leads there.
@Suite(.timeLimit(.minutes(10))) struct CredentialOriginTests {
    static let own = "https://api.example.com"
    static let other = "https://other.example.com"
    static let ownOnly = ["+ https://api.example.com"]
    static let otherWith = ["+ https://other.example.com"]
    static let otherWithout = ["- https://other.example.com"]

    /// What the app's own transport is.
    enum OwnTransport: Sendable { case rest, socket, mixed, jsonAPI, none }

    /// One way to a server, and the servers that are reached: `+` with the token, `-` without.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let transport: OwnTransport
        let trusted: [String]
        let reached: [String]
        let send: @Sendable (Scene) async throws -> Void

        init(
            _ name: String, on transport: OwnTransport = .rest, trusting trusted: [String] = [], _ reached: [String],
            _ send: @escaping @Sendable (Scene) async throws -> Void
        ) {
            (testDescription, self.transport, self.trusted) = (name, transport, trusted)
            (self.reached, self.send) = (reached, send)
        }
    }

    @Test(arguments: endpoints)
    func `Endpoints carry the token to trusted servers only`(way: Case) async throws { try await check(way) }

    @Test(arguments: beside)
    func `Endpoints beside a connection, and without a transport, carry the token to trusted servers only`(way: Case)
        async throws
    {
        try await check(way)
    }

    @Test(arguments: services)
    func `Services carry the token to trusted servers only`(way: Case) async throws { try await check(way) }

    @Test(arguments: followed)
    func `No redirect and no link of a server takes the token away from it`(way: Case) async throws {
        try await check(way)
    }

    private func check(_ way: Case) async throws {
        let scene = try await Scene(way.transport, trusting: way.trusted)
        try await way.send(scene)
        let reached = scene.http.requests.map { request in
            let place = request.url.absoluteString.lowercased().split(separator: "/").prefix(2).joined(separator: "//")
            return "\(request.headers["Authorization"] == nil ? "-" : "+") \(place)"
        }
        #expect(reached == way.reached)
        // What hooks add to endpoints' requests goes where the token goes.
        for request in scene.http.requests where request.headers["Authorization"] == nil {
            #expect(request.headers["X-Hook"] == nil)
        }
        withExtendedLifetime(scene) {}
    }

    static let endpoints: [Case] = [
        Case("a path", ownOnly) { try await $0.ask("x") },
        Case("an absolute URL to the own server, written otherwise", ["+ https://api.example.com:443"]) {
            try await $0.ask("HTTPS://API.example.com:443/x")
        },
        Case("an absolute URL to another host", otherWithout) { try await $0.ask(other + "/x") },
        Case("an absolute URL to another port", ["- https://api.example.com:8443"]) {
            try await $0.ask(own + ":8443/x")
        },
        Case("an absolute URL to another scheme", ["- http://api.example.com"]) {
            try await $0.ask("http://api.example.com/x")
        },
        Case("an absolute URL whose user is named like the own host", ["- https://api.example.com@other.example.com"]) {
            try await $0.ask("https://api.example.com@other.example.com/x")
        },
        Case("a base URL of its own on another server", otherWithout) { try await $0.ask("x", base: other) },
        Case("a base URL of its own on the own server", ownOnly) { try await $0.ask("x", base: own + "/v2") },
        Case("over a named transport to another server", otherWithout) { try await $0.ask("x", over: other) },
        Case("over a named transport to the own server", ownOnly) { try await $0.ask("x", over: own + "/v2") },
        Case("an absolute URL to the own server, over a transport to another", ownOnly) {
            try await $0.ask(own + "/x", over: other)
        },
        Case("an absolute URL to another server, over a transport to it", otherWithout) {
            try await $0.ask(other + "/x", over: other)
        },
        Case("over a named transport to a listed server", trusting: [other + "/any"], otherWith) {
            try await $0.ask("x", over: other)
        },
        Case("an absolute URL to a listed server", trusting: [other], otherWith) { try await $0.ask(other + "/x") },
        Case("another port of a listed server", trusting: [other], ["- https://other.example.com:8443"]) {
            try await $0.ask(other + ":8443/x")
        },
        Case("to another server, including credentials", otherWith) {
            try await $0.ask("x", over: other, credentials: .include)
        },
        Case("to the own server, without credentials", ["- https://api.example.com"]) {
            try await $0.ask("x", credentials: .omit)
        },
        Case("an upload to another server", otherWithout) { scene in
            let upload = Endpoint<EmptyResponse>(.put, "x", body: .text("content"))
            try await scene.app.transfer(upload, over: scene.rest(other)) { for await _ in $0 {} }
        },
        Case("a download from another server", otherWithout) { scene in
            let folder = try TemporaryFolder()
            let download = Endpoint<DownloadedFile>(.get, "x", to: folder.url.appending(path: "file"))
            try await scene.app.request(download, over: scene.rest(other))
            withExtendedLifetime(folder) {}
        },
    ]

    static let beside: [Case] = [
        Case("Socket.IO, over a named transport to its server", on: .socket, ownOnly) {
            try await $0.ask("x", over: own)
        },
        Case("Socket.IO, over a named transport to another server", on: .socket, otherWithout) {
            try await $0.ask("x", over: other)
        },
        Case("Socket.IO, over a named transport to a listed server", on: .socket, trusting: [other], otherWith) {
            try await $0.ask("x", over: other)
        },
        Case("Socket.IO, over the endpoints' transport to its server", on: .socket, ownOnly) { scene in
            scene.app.endpointTransport = try scene.rest(own)
            try await scene.ask("x")
        },
        Case("Socket.IO, over the endpoints' transport to another server", on: .socket, otherWithout) { scene in
            scene.app.endpointTransport = try scene.rest(other)
            try await scene.ask("x")
        },
        Case("mixed, over its own transport", on: .mixed, ownOnly) { try await $0.ask("x") },
        Case("mixed, over a named transport to another server", on: .mixed, otherWithout) {
            try await $0.ask("x", over: other)
        },
        Case("JSON:API, over the endpoints' transport to its server", on: .jsonAPI, ownOnly) { scene in
            scene.app.endpointTransport = try scene.rest(own)
            try await scene.ask("x")
        },
        Case("without a transport, over the endpoints' transport", on: .none, ownOnly) { scene in
            scene.app.endpointTransport = try scene.rest(own)
            try await scene.ask("x")
        },
        Case("without a transport, over a named transport beside the endpoints'", on: .none, otherWithout) { scene in
            scene.app.endpointTransport = try scene.rest(own)
            try await scene.ask("x", over: other)
        },
        Case("without a transport, over a named transport", on: .none, otherWithout) {
            try await $0.ask("x", over: other)
        },
    ]

    static let services: [Case] = [
        Case("of the app's transport", ownOnly) { _ = try await $0.app.service("messages").find() },
        Case("of a mixed app, beside its connection", on: .mixed, ownOnly) {
            _ = try await $0.app.service("messages").find()
        },
        Case("of a JSON:API app", on: .jsonAPI, ownOnly) { _ = try await $0.app.service("articles").find() },
        Case("registered with a transport to another server", otherWithout) { try await $0.call(over: $0.rest(other)) },
        Case("registered with a transport to the own server", ownOnly) { try await $0.call(over: $0.rest(own)) },
        Case("registered with a transport to a listed server", trusting: [other], otherWith) {
            try await $0.call(over: $0.rest(other))
        },
        Case("registered with transports to the own server and another", otherWithout) { scene in
            let mixed = MixedTransport.mixed(realTime: .socketIO(try scene.url(own)), rest: try scene.rest(other))
            try await scene.call(over: mixed)
        },
        Case("registered with JSON:API on another server", on: .jsonAPI, otherWithout) { scene in
            try await scene.call(over: .jsonAPI(scene.url(other), httpClient: scene.http))
        },
        Case("of a Socket.IO app, registered with a transport to its server", on: .socket, ownOnly) {
            try await $0.call(over: $0.rest(own))
        },
        Case("of a Socket.IO app, registered with a transport to another server", on: .socket, otherWithout) {
            try await $0.call(over: $0.rest(other))
        },
        Case("of an app without a transport", on: .none, otherWithout) { try await $0.call(over: $0.rest(other)) },
        Case("of an app without a transport, on a listed server", on: .none, trusting: [other], otherWith) {
            try await $0.call(over: $0.rest(other))
        },
        Case("of the program's own that hand calls on to another server", otherWithout) {
            try await $0.call(Forwarding(transport: $0.rest(other)))
        },
        Case("of the program's own that hand calls on to JSON:API on another server", otherWithout) { scene in
            try await scene.call(Forwarding(transport: .jsonAPI(scene.url(other), httpClient: scene.http)))
        },
        Case("of the program's own that hand calls on to the own server", ownOnly) {
            try await $0.call(Forwarding(transport: $0.rest(own)))
        },
        Case("of the program's own that call another app with their params", otherWithout) { scene in
            try await scene.call(Asking(app: FeathersApp(transport: scene.rest(other))))
        },
    ]

    static let followed: [Case] = [
        Case("a redirect to another server", ["+ https://api.example.com", "- https://other.example.com"]) { scene in
            scene.http.stub("/moved", with: .status(307, headers: ["Location": other + "/x"]))
            try await scene.ask("moved")
        },
        Case(
            "a redirect to a listed server", trusting: [other],
            ["+ https://api.example.com", "- https://other.example.com"]
        ) { scene in
            scene.http.stub("/moved", with: .status(307, headers: ["Location": other + "/x"]))
            try await scene.ask("moved")
        },
        Case("a redirect within the server", ["+ https://api.example.com", "+ https://api.example.com"]) { scene in
            scene.http.stub("/moved", with: .status(307, headers: ["Location": "/x"]))
            try await scene.ask("moved")
        },
        Case("another server's redirect to the own one", ["- https://other.example.com", "- https://api.example.com"]) {
            scene in
            scene.http.stub("/moved", with: .status(307, headers: ["Location": own + "/x"]))
            try await scene.ask(other + "/moved")
        },
        Case("a redirect of a service's call", ["+ https://api.example.com", "- https://other.example.com"]) { scene in
            scene.http.stub("/messages", with: .status(307, headers: ["Location": other + "/x"]))
            _ = try await scene.app.service("messages").find()
        },
        // Such a link is refused, so that nothing reaches the other server.
        Case("a JSON:API link to another server", on: .jsonAPI, ownOnly) { scene in
            scene.http.stub("/articles", with: .json(["data": [], "links": ["next": .string(other + "/articles")]]))
            let page = try await scene.app.jsonAPI(Article.self).find()
            await #expect(throws: FeathersError.self) { try await page.next() }
        },
        Case("a JSON:API link to a listed server", on: .jsonAPI, trusting: [other], ownOnly) { scene in
            scene.http.stub("/articles", with: .json(["data": [], "links": ["next": .string(other + "/articles")]]))
            let page = try await scene.app.jsonAPI(Article.self).find()
            await #expect(throws: FeathersError.self) { try await page.next() }
        },
        Case(
            "a JSON:API link within the server", on: .jsonAPI,
            ["+ https://api.example.com", "+ https://api.example.com:443"]
        ) { scene in
            scene.http.stub("/articles", with: .json(["data": [], "links": ["next": .string(own + ":443/more")]]))
            _ = try await scene.app.jsonAPI(Article.self).find().next()
        },
    ]

    @Test func `Another server does not judge the token`() async throws {
        let scene = try await Scene(.rest)
        try await scene.app.reauthenticate()
        scene.http.stub("/reports", with: .refusal(FeathersError(.notAuthenticated, "Who are you?")))
        let error = await failure { try await scene.call(over: scene.rest(Self.other)) }
        #expect(error?.code == .notAuthenticated)
        #expect(scene.app.authentication.result?.accessToken == "secret")
        #expect(scene.http.requests.count == 1)
    }

    @Test
    func `Another server does not judge the token that a local service did not pass on, and neither does the service`()
        async throws
    {
        actor Asking: ServiceProtocol {
            func find(_ params: Params) async throws -> JSONValue {
                throw FeathersError(.notAuthenticated, "Wrong PIN")
            }
        }
        let scene = try await Scene(.rest)
        try await scene.app.reauthenticate()
        scene.http.stub("/reports", with: .refusal(FeathersError(.notAuthenticated, "Who are you?")))
        let error = await failure { try await scene.call(Forwarding(transport: scene.rest(Self.other))) }
        #expect(error?.code == .notAuthenticated && scene.app.authentication.result?.accessToken == "secret")
        #expect(scene.http.requests.count == 1)
        try await scene.app.use(Asking(), at: "pins")
        #expect(await failure { try await scene.app.service("pins").find() }?.message == "Wrong PIN")
        #expect(scene.app.authentication.result?.accessToken == "secret")
        // The own server does judge it.
        _ = await failure { try await scene.call(Forwarding(transport: scene.rest(Self.own))) }
        #expect(scene.app.authentication == .expired)
    }

    @Test func `A transport's own header fields go to its server and to no other`() async throws {
        let scene = try await Scene(.rest)
        let transport = RESTTransport.rest(
            try scene.url(Self.other), headers: ["X-API-Key": "key"], httpClient: scene.http)
        try await scene.app.request(Endpoint<EmptyResponse>(.get, "x"), over: transport)
        try await scene.app.request(Endpoint<EmptyResponse>(.get, Self.own + "/x"), over: transport)
        #expect(scene.http.requests.map { $0.headers["X-API-Key"] } == ["key", nil])
    }

    @Test func `A service may put a token of its own in the place of the app's`() async throws {
        let scene = try await Scene(.rest)
        try await scene.call(Forwarding(transport: scene.rest(Self.other), token: "Bearer theirs"))
        #expect(scene.http.requests.map { $0.headers["Authorization"] } == ["Bearer theirs"])
    }

    @Test(arguments: ["mailto:bob@example.com", "example.com", "http:///x", "ftp://bob:s3cret@example.com"])
    func `A trusted origin that is none is refused, by its place in the list`(text: String) throws {
        let urls = [try #require(URL(string: Self.other)), try #require(URL(string: text))]
        let options = AuthenticationOptions { $0.trustedOrigins = urls }
        let error = try #require(throws: FeathersError.self) { try FeathersApp().use(authentication: options) }
        #expect(error.message.contains("trustedOrigins[1]"))
        #expect(!error.message.contains("s3cret"))
    }
}

extension CredentialOriginTests {
    /// An app with a stored token, and the HTTP client that all its requests go through.
    struct Scene: Sendable {
        let app: FeathersApp
        let http: StubHTTPClient

        init(_ transport: OwnTransport, trusting trusted: [String] = []) async throws {
            let http = StubHTTPClient { HTTPResponse(status: 200, body: Array(#"{"data":[]}"#.utf8), url: $0.url) }
            let own = try #require(URL(string: CredentialOriginTests.own))
            app =
                switch transport {
                case .rest: FeathersApp(transport: .rest(own, httpClient: http))
                // The same server as over https.
                case .socket: FeathersApp(transport: .socketIO(try #require(URL(string: "wss://api.example.com"))))
                case .mixed:
                    FeathersApp(transport: .mixed(realTime: .socketIO(own), rest: .rest(own, httpClient: http)))
                case .jsonAPI: FeathersApp(transport: .jsonAPI(own, httpClient: http))
                case .none: FeathersApp()
                }
            self.http = http
            // Signing in is answered in this process, so that the client sees the calls alone.
            try await app.use(Accounts(), at: "authentication")
            let urls = try trusted.map { try #require(URL(string: $0)) }
            // An app without a transport has its endpoints' origin, or none.
            let keys = ["", " \(CredentialOriginTests.own)", " \(CredentialOriginTests.other)"].map {
                "feathers-jwt\($0)"
            }
            let storage = InMemoryTokenStorage(Dictionary(uniqueKeysWithValues: keys.map { ($0, "secret") }))
            try app.use(authentication: AuthenticationOptions(storage: storage) { $0.trustedOrigins = urls })
            app.use(hooks: Hooks(before: ["request": [{ $0.params.headers["X-Hook"] = "1" }]]))
        }

        func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

        func rest(_ text: String) throws -> RESTTransport { .rest(try url(text), httpClient: http) }

        /// Makes the request of an endpoint.
        func ask(
            _ path: String, base: String? = nil, over transport: String? = nil,
            credentials: EndpointCredentials = .sameOrigin
        ) async throws {
            var endpoint = Endpoint<EmptyResponse>(.post, path, baseURL: try base.map { try url($0) })
            endpoint.credentials = credentials
            try await app.request(endpoint, over: try transport.map { try rest($0) })
        }

        /// Registers a service and calls it.
        func call(_ service: any ServiceProtocol) async throws {
            _ = try await app.use(service, at: "reports").find()
        }

        /// Registers the service of a transport's server and calls it.
        func call(over transport: any Transport) async throws {
            _ = try await app.use(transport, at: "reports").find()
        }
    }

    actor Accounts: ServiceProtocol {
        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
            ["accessToken": "secret", "user": ["id": 1]]
        }
    }

    /// A service of the program's own in front of a transport.
    actor Forwarding: ServiceProtocol {
        private let transport: any Transport
        private let token: String?

        init(transport: any Transport, token: String? = nil) { (self.transport, self.token) = (transport, token) }

        func respond(to request: ServiceRequest) async throws -> ServiceResponse {
            var request = request
            if let token { request.params.headers["Authorization"] = token }
            return try await transport.send(request)
        }
    }

    /// A service of the program's own that asks another app with the params of its caller.
    actor Asking: ServiceProtocol {
        private let app: FeathersApp

        init(app: FeathersApp) { self.app = app }

        func find(_ params: Params) async throws -> JSONValue {
            .array(try await app.service("reports").find(params: params).data)
        }
    }

    struct Article: JSONAPIModel {
        static let type = "articles"
        var id: String?
        var title: String
    }
}

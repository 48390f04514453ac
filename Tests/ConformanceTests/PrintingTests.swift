import Feathers
import FeathersJSONAPI
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

private let secret = "s3cr3t-w0rd"
private let headers = ["Authorization": "Bearer \(secret)", "X-Api-Key": secret, "Cookie": "sid=\(secret)"]

private struct Note: Codable, Sendable { var text: String }

private enum Kept: AppSetting, ParamsKey { typealias Value = String }

/// A transport that knows nothing of hiding secrets.
private struct SigningTransport: Transport {
    let key: String

    func send(_ request: ServiceRequest) async throws -> ServiceResponse { ServiceResponse(.null) }
}

/// What logs and debuggers show of everything that a user can put a secret into.
@Suite("Printing and dumping", .inTurn, .timeLimit(.minutes(10)))
struct PrintingTests {
    private static func texts(of value: any Sendable) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let mirrored = Mirror(reflecting: value).children.map { "\($0.label ?? ""): \($0.value)" }
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, "\(value): \(mirrored)",
        ]
    }

    @Test("Everything shows what it is and no secrets, in every way of printing", arguments: Thing.all)
    func secrets(_ thing: Thing) async throws {
        for text in Self.texts(of: try await thing.make()) {
            #expect(text.contains(thing.testDescription) && !text.contains(secret))
        }
    }

    @Test("Descriptions say which app, service, query or request it is")
    func descriptions() throws {
        let rest = RESTTransport(try Thing.url(), headers: headers)
        let (app, other) = (FeathersApp(transport: rest), FeathersApp(transport: SigningTransport(key: secret)))
        let query: Query<JSONValue> = ["text": "x", "$limit": 10]
        let nested = Query.where("age", .greaterThanOrEqual(1)).where("age", .lessThan(2)).where(
            "name", .isIn(["x", "y"])
        )
        .setting("$or", [["team": "x"], ["$and": [["at": 1], ["tags": ["x"]]]]])
        let params = Params(query: ["n": 1], headers: headers, route: ["team": "red"])
        var request = HTTPRequest(
            method: "PUT", url: try Thing.url("https://example.com/a?key=\(secret)"), body: [1, 2])
        try request.headers.set("X-Api-Key", to: secret)
        let table: [(value: any Sendable, text: String)] = [
            (rest, "RESTTransport(https://example.com:8443/api)"),
            (app, "FeathersApp(transport: RESTTransport(https://example.com:8443/api), services: 0)"),
            (other, "FeathersApp(transport: SigningTransport, services: 0)"),
            (app.service("notes"), #"Service<JSONValue>("notes")"#),
            (app.service("notes", of: Note.self), #"Service<Note>("notes")"#),
            (query, "Query(text, $limit)"),
            (Query(), "Query()"),
            (nested, "Query(age: {$gte, $lt}, name: {$in}, $or: [{team}, {$and: [{at}, {tags}]}])"),
            (Query<Note>(query.json), "Query<Note>(text, $limit)"),
            (params, "Params(query: {n}, headers: [Authorization, Cookie, X-Api-Key], route: [team])"),
            (ServiceRequest(path: "notes", method: .get, id: 7), #"ServiceRequest(get "notes", id: 7, Params())"#),
            (request, "HTTPRequest(PUT https://example.com/a, headers: [X-Api-Key], body: 2 bytes)"),
            (SocketIOTransport(try Thing.url()), "SocketIOTransport(example.com:8443)"),
            (NetworkProxy.url("ann:\(secret)@proxy:1080"), "NetworkProxy.url(proxy:1080)"),
        ]
        for row in table { #expect("\(row.value)" == row.text) }
    }

    @Test("An app whose WebSocket stands is dumped, and goes on", .enabled(if: !TestBackend.isSkipped))
    func standing() async throws {
        let app = try await Subject.webSocket.app()
        let transport = try #require(app.transport)
        let echo = app.service("echo")
        for value in [app, transport, echo, echo.registered] as [any Sendable] {
            #expect(Self.texts(of: value).allSatisfy { !$0.isEmpty })
        }
        #expect(try await echo.get(1)["id"] != nil)
        await app.disconnect()
    }
}

/// A value with the secret wherever one can be put.
struct Thing: Sendable, CustomTestStringConvertible {
    /// The name of its type, which is always shown.
    let testDescription: String
    let make: @Sendable () async throws -> any Sendable

    init(_ type: String, _ make: @escaping @Sendable () async throws -> any Sendable) {
        (testDescription, self.make) = (type, make)
    }

    fileprivate static func url(_ text: String = "https://ann:\(secret)@example.com:8443/api") throws -> URL {
        try #require(URL(string: text))
    }

    private static func fields() throws -> HTTPHeaders {
        var fields = HTTPHeaders()
        try fields.setFields(headers)
        try fields.set("Set-Cookie", to: "sid=\(secret)")
        return fields
    }

    private static let query = Query.where("apiKey", secret).where("n", .isIn([secret])).any(of: [
        .where("a", .notEquals(secret))
    ])

    private static var params: Params {
        var params = Params(query: query, headers: headers, route: ["team": secret])
        params[Kept.self] = secret
        return params
    }

    private static var request: ServiceRequest {
        ServiceRequest(path: "users", method: .create, data: ["password": .string(secret)], params: params)
    }

    private static func httpRequest() throws -> HTTPRequest {
        let url = try Self.url("https://ann:\(secret)@example.com/a?key=\(secret)#\(secret)")
        return HTTPRequest(url: url, headers: try fields(), body: Array(secret.utf8))
    }

    private static func httpResponse() throws -> HTTPResponse {
        HTTPResponse(status: 200, headers: try fields(), body: Array("\"\(secret)\"".utf8), url: try httpRequest().url)
    }

    /// An app that has a secret wherever an app has one.
    private static func app() throws -> FeathersApp {
        let app = FeathersApp(
            transport: RESTTransport(
                try url(), headers: headers, httpClient: StubHTTPClient { _ in try httpResponse() }))
        try app.use(authentication: authentication)
        app[Kept.self] = secret
        return app
    }

    private static var authentication: AuthenticationOptions {
        AuthenticationOptions(storage: InMemoryTokenStorage(["feathers-jwt": secret]), refresh: refresh)
    }

    private static var refresh: TokenRefresh { .service("tokens", fields: ["client_secret": .string(secret)]) }

    private static var socketOptions: SocketIOTransport.Options {
        var options = SocketIOTransport.Options()
        options.auth = { ["token": .string(secret)] }
        options.headers = { headers }
        options.httpClient = StubHTTPClient { _ in try httpResponse() }
        return options
    }

    static let all = transports + services + calls + http + settings + platform

    private static let transports = [
        Thing("RESTTransport") { RESTTransport(try url(), headers: headers) },
        Thing("RESTTransport") { RESTTransport(try httpRequest().url, headers: headers) },
        Thing("SocketIOTransport") { SocketIOTransport(try httpRequest().url, options: socketOptions) },
        Thing("SocketIOTransport.Options") { socketOptions },
        Thing("MixedTransport") {
            MixedTransport(realTime: SocketIOTransport(try url()), rest: SigningTransport(key: secret))
        },
        Thing("JSONAPITransport") { JSONAPITransport(try url(), headers: headers) },
        Thing("StubTransport") {
            let transport = StubTransport { _ in .string(secret) }
            _ = try await transport.send(request)
            return transport
        },
        Thing("StubRealTimeTransport") { StubRealTimeTransport(passingThrough: SigningTransport(key: secret)) },
        Thing("StubHTTPClient") {
            let client = StubHTTPClient { _ in try httpResponse() }
            _ = try await client.execute(try httpRequest())
            return client
        },
    ]

    private static let services = [
        Thing("FeathersApp") { try app() },
        Thing("SigningTransport") { FeathersApp(transport: SigningTransport(key: secret)) },
        Thing("Service<JSONValue>") { try app().service("notes") },
        Thing("Service<Note>") { try app().service("notes", of: Note.self) },
        Thing("RegisteredService") { try app().service("notes").registered },
        Thing("RegisteredService") { try await app().use(SigningTransport(key: secret), at: "notes").registered },
        Thing("MemoryService") { MemoryService(records: [["id": 1, "password": .string(secret)]]) },
        Thing("MemoryCacheStorage") { try await cacheStorage() },
        Thing("ServiceCache") { ServiceCache(try await cacheStorage()) },
    ]

    private static func cacheStorage() async throws -> MemoryCacheStorage {
        let storage = MemoryCacheStorage()
        try await storage.set(CacheEntry(value: .string(secret)), for: CacheKey(text: secret, group: "notes"))
        return storage
    }

    private static let calls = [
        Thing("Query") { query },
        Thing("Query<Note>") { Query<Note>(query.json) },
        Thing("Condition") { QueryCondition.equals(.string(secret)) },
        Thing("Params") { params },
        Thing("LiveQuery") { FeathersApp().service("notes").live(query, params: params) },
        Thing("Pages") { FeathersApp().service("notes").pages(query, params: params) },
        Thing("Query") { Query.including("author").parameter("filter[apiKey]", secret).after(secret) },
        Thing("JSONAPIQueryItem") { JSONAPIQueryItem("filter[apiKey]", secret) },
        Thing("ServiceRequest") { request },
        Thing("ServiceResponse") { ServiceResponse(["accessToken": .string(secret)]) },
        Thing("HookContext") {
            let app = FeathersApp(transport: StubTransport { _ in ["accessToken": .string(secret)] })
            let seen = Locked<HookContext?>(nil)
            app.use(
                hooks: Hooks(after: [
                    { context in
                        let copy = context
                        seen.withLock { $0 = copy }
                    }
                ]))
            try await app.service("users").create(["password": .string(secret)], params: params)
            let context = seen.withLock { $0 }
            return try #require(context)
        },
    ]

    private static let http = [
        Thing("Authorization") { try fields() },
        Thing("HTTPRequest") { try httpRequest() },
        Thing("HTTPResponse") { try httpResponse() },
        Thing("HTTPTransfer") { HTTPTransfer(try httpRequest(), body: HTTPBody(Array(secret.utf8))) },
        Thing("HTTPHead") { HTTPHead(try httpResponse()) },
        Thing("WebSocketRequest") { WebSocketRequest(url: try httpRequest().url, headers: try fields()) },
        Thing("MultipartPart") { MultipartPart.field("password", secret) },
        Thing("Endpoint<JSONValue>") {
            Endpoint<JSONValue>(.get, try httpRequest().url.absoluteString, headers: headers)
        },
        Thing("EndpointResponse<JSONValue>") {
            let client = StubHTTPClient { _ in try httpResponse() }
            let app = FeathersApp(transport: RESTTransport(try url(), headers: headers, httpClient: client))
            return try await app.response(to: Endpoint<JSONValue>(.get, "me"))
        },
    ]

    private static let settings = [
        Thing("AuthenticationOptions") { authentication },
        Thing("TokenRefresh") { refresh },
        Thing("InMemoryTokenStorage") { InMemoryTokenStorage(["feathers-jwt": secret]) },
        Thing("AuthenticationCredentials") {
            AuthenticationCredentials.local(email: "ann@example.com", password: secret)
        },
        Thing("AuthenticationTokens") { AuthenticationTokens(accessToken: secret, refreshToken: secret) },
        Thing("NetworkProxy") { NetworkProxy.url("http://ann:\(secret)@proxy:3128") },
        Thing("NetworkProxy") { NetworkProxy.url("ann:\(secret)@proxy:3128") },
    ]

    #if os(Linux)
        private static let platform = [
            Thing("CurlHTTPClient") { try CurlHTTPClient(proxy: .url("http://ann:\(secret)@proxy:3128")) },
            Thing("CurlWebSocketConnector") { CurlWebSocketConnector(proxy: .url("http://ann:\(secret)@proxy:3128")) },
        ]
    #else
        private static let platform: [Thing] = []
    #endif
}

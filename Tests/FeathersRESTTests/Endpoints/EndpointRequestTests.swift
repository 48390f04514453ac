import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

@Suite("An endpoint's request")
struct EndpointRequestTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var endpoint: Endpoint<EmptyResponse>
        var url: String
        var testDescription: String { url }

        init(
            _ path: String, route: [String: String] = [:], query: Query<JSONValue> = Query(),
            items: [(String, String?)] = [], base: String? = nil, _ url: String
        ) {
            endpoint = Endpoint(.get, path, route: route, query: query, baseURL: base.flatMap { URL(string: $0) })
            endpoint.queryItems = items.map { URLQueryItem(name: $0.0, value: $0.1) }
            self.url = url
        }
    }

    static func app(_ client: SeamHTTPClient, headers: [String: String] = [:]) throws -> FeathersApp {
        FeathersApp(
            transport: RESTTransport(
                try #require(URL(string: "http://home:3030/api")), headers: headers, httpClient: client))
    }

    @Test(
        "asks this URL",
        arguments: [
            Case("users/me", "http://home:3030/api/users/me"), Case("/users/me", "http://home:3030/api/users/me"),
            Case("users/me/", "http://home:3030/api/users/me/"), Case("", "http://home:3030/api"),
            Case("/", "http://home:3030/api/"),
            Case("größe/a b", "http://home:3030/api/gr%C3%B6%C3%9Fe/a%20b"),
            Case("a%2Fb", "http://home:3030/api/a%2Fb"),
            Case("users/:id/x", route: ["id": "a/b?c"], "http://home:3030/api/users/a%2Fb%3Fc/x"),
            Case("documents:batch", "http://home:3030/api/documents:batch"),
            Case("u", query: ["verbose": true, "$limit": 2], "http://home:3030/api/u?verbose=true&%24limit=2"),
            Case(
                "u", items: [("t", "a b"), ("t", "ü&="), ("flag", nil), ("e", "")],
                "http://home:3030/api/u?t=a%20b&t=%C3%BC%26%3D&flag&e="),
            Case("u", query: ["a": 1], items: [("b", "2")], "http://home:3030/api/u?a=1&b=2"),
            Case("u", base: "https://other/v2/", "https://other/v2/u"),
            Case("https://cdn.example.com/logo.png", "https://cdn.example.com/logo.png"),
            Case("https://cdn.example.com/logo.png", base: "https://other", "https://cdn.example.com/logo.png"),
            Case("HTTP://h:81/x?sig=a%2Bb&y", query: ["z": 1], "HTTP://h:81/x?sig=a%2Bb&y&z=1"),
            Case("http://h/x#fragment?", query: ["z": 1], "http://h/x?z=1"),
        ])
    func url(_ expected: Case) async throws {
        let client = SeamHTTPClient(status: 204)
        let response = try await Self.app(client).response(to: expected.endpoint)
        #expect(client.requests.map(\.url.absoluteString) == [expected.url])
        #expect(response.url.absoluteString == expected.url)
        #expect(response.status == 204)
    }

    @Test(
        "is refused before anything is sent where the path",
        arguments: [
            ("users?x=1", "contains a '?': pass the query as 'query'"), ("users#top", "contains a '#'"),
            ("a/../b", "refers to another path"),
            ("users/:id", "requires a value for ':id'"), ("//host/x", "starts with two slashes"),
            ("ftp://host/x", "not an http or https URL"),
            ("https://", "not an http or https URL"), ("http://host:99999/x", "not an http or https URL"),
        ])
    func refused(path: String, text: String) async throws {
        let client = SeamHTTPClient()
        let error = try await #require(throws: FeathersError.self) {
            try await Self.app(client).request(Endpoint<EmptyResponse>(.get, path))
        }
        #expect(error.code == .badRequest)
        #expect(error.execution == .neverSent)
        #expect(error.message.contains(text))
        #expect(client.requests.isEmpty)
    }

    struct Model: Codable, Sendable {
        var sentAt = Date(timeIntervalSince1970: 1)
    }

    @Test(
        "has this body and content type",
        arguments: [
            (nil, nil, nil), (.json(Model()), #"{"sentAt":"1970-01-01T00:00:01.000Z"}"#, "application/json"),
            (.json(["a": [1, nil, "x"]] as JSONValue), #"{"a":[1,null,"x"]}"#, "application/json"),
            (.json(JSONValue.null), "null", "application/json"),
            (.data(Data("<a/>".utf8), contentType: .xml), "<a/>", "application/xml"),
            (.data(Data("x".utf8)), "x", "application/octet-stream"), (.text("ü"), "ü", "text/plain; charset=utf-8"),
            (.text("a: 1", contentType: .yaml), "a: 1", "application/yaml"),
            (.encoded(3, contentType: "application/x-three") { Data("\($0)".utf8) }, "3", "application/x-three"),
            (
                .form([URLQueryItem(name: "a b", value: "1&2"), URLQueryItem(name: "c", value: nil)]), "a%20b=1%262&c",
                "application/x-www-form-urlencoded"
            ),
        ] as [(EndpointBody?, String?, String?)])
    func body(body: EndpointBody?, text: String?, contentType: String?) async throws {
        let client = SeamHTTPClient(status: 204)
        try await Self.app(client).request(Endpoint<EmptyResponse>(.post, "x", body: body))
        let request = try #require(client.requests.first)
        #expect(request.method == "POST")
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == text)
        #expect(request.headers["Content-Type"] == contentType)
    }

    @Test("has the endpoint's header fields before the transport's, and a content type only where none was given")
    func headers() async throws {
        let client = SeamHTTPClient(status: 204)
        let app = try Self.app(client, headers: ["X-App": "1", "X-Both": "app", "Content-Type": "text/of-the-app"])
        try await app.request(Endpoint<EmptyResponse>(.post, "x", headers: ["x-both": "endpoint"], body: .json(1)))
        try await app.request(
            Endpoint<EmptyResponse>(.post, "x", headers: ["content-type": "application/vnd.api+json"], body: .json(1)))
        try await app.request(Endpoint<[Int]?>(.get, "x"))
        #expect(
            client.requests.map { $0.headers["Content-Type"] } == [
                "application/json", "application/vnd.api+json", "text/of-the-app",
            ])
        #expect(client.requests.map { $0.headers["X-Both"] } == ["endpoint", "app", "app"])
        #expect(client.requests.map { $0.headers["X-App"] } == ["1", "1", "1"])
        #expect(client.requests.map { $0.headers["Accept"] } == ["*/*", "*/*", "application/json"])
    }

    @Test("is coded as the call says, else the endpoint, else the app")
    func coding() async throws {
        let client = SeamHTTPClient(body: "5000")
        let app = try Self.app(client)
        app.coding = CodingOptions(dates: .secondsSince1970)
        var endpoint = Endpoint<Date>(.post, "x", body: .json(Model()))
        var params = Params()
        #expect(try await app.request(endpoint).timeIntervalSince1970 == 5000)
        endpoint.coding = CodingOptions(dates: .millisecondsSince1970)
        #expect(try await app.request(endpoint).timeIntervalSince1970 == 5)
        params.coding = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)
        #expect(try await app.request(endpoint, params: params).timeIntervalSince1970 == 5000)
        let bodies = client.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        #expect(bodies == [#"{"sentAt":1}"#, #"{"sentAt":1000}"#, #"{"sent_at":1}"#])
    }

    @Test("has the call's timeout, else the endpoint's, else the transport's")
    func timeout() async throws {
        let client = SeamHTTPClient(status: 204)
        let app = try Self.app(client)
        try await app.request(
            Endpoint<EmptyResponse>(.get, "x", timeout: .seconds(2)), params: Params(timeout: .seconds(1)))
        try await app.request(Endpoint<EmptyResponse>(.get, "x", timeout: .seconds(2)))
        try await app.request(Endpoint<EmptyResponse>(.get, "x"))
        #expect(client.requests.map(\.timeout) == [.seconds(1), .seconds(2), .seconds(60)])
    }
}

import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

@Suite("A service request over REST")
struct RESTRequestTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var request: ServiceRequest
        var line: String
        var body: String?
        var testDescription: String { line }

        init(
            _ method: ServiceMethod, _ path: String, id: ServiceID? = nil, data: JSONValue? = nil,
            query: JSONObject = [:],
            route: [String: String] = [:], _ line: String, body: String? = nil
        ) {
            request = ServiceRequest(
                path: path, method: method, id: id, data: data, params: Params(query: Query(query), route: route))
            self.line = line
            self.body = body
        }
    }

    @Test(
        "becomes this request line and body",
        arguments: [
            Case(.find, "messages", "GET /messages"),
            Case(
                .find, "messages", query: ["$limit": 2, "$sort": ["a": -1]],
                "GET /messages?%24limit=2&%24sort%5Ba%5D=-1"),
            Case(.get, "messages", id: 1, "GET /messages/1"),
            Case(.get, "messages", id: .number(1.5), "GET /messages/1.5"),
            Case(.get, "messages", id: "a/b ü?#%", query: ["x": 1], "GET /messages/a%2Fb%20%C3%BC%3F%23%25?x=1"),
            Case(.get, "messages", id: "!'()*~", "GET /messages/!'()*~"),
            Case(.get, "messages", id: "...", "GET /messages/..."),
            Case(
                .create, "messages", data: ["a": nil, "b": [1.5, "ü"]], "POST /messages",
                body: #"{"a":null,"b":[1.5,"ü"]}"#),
            Case(.create, "messages", data: [], "POST /messages", body: "[]"),
            Case(.create, "messages", data: .null, "POST /messages"),
            Case(.create, "messages", "POST /messages"),
            Case(.create, "messages", id: 7, data: "x", "POST /messages", body: #""x""#),
            Case(.update, "messages", id: 0, data: ["a": 1], "PUT /messages/0", body: #"{"a":1}"#),
            Case(.update, "messages", data: ["a": 1], "PUT /messages", body: #"{"a":1}"#),
            Case(
                .patch, "messages", id: "x", data: ["a": 1], query: ["q": true], "PATCH /messages/x?q=true",
                body: #"{"a":1}"#),
            Case(
                .patch, "messages", data: ["a": 1], query: ["q": ["$in": [1]]], "PATCH /messages?q%5B%24in%5D%5B0%5D=1",
                body: #"{"a":1}"#),
            Case(.remove, "messages", id: 3, data: ["never": "sent"], "DELETE /messages/3"),
            Case(.remove, "messages", "DELETE /messages"),
            Case("archive", "messages", data: ["id": 1], "POST /messages", body: #"{"id":1}"#),
            Case("archive", "messages", "POST /messages"),
            Case(.find, "/messages/", "GET /messages"),
            Case(.find, "api/v1/messages", "GET /api/v1/messages"),
            Case(.find, ":x/m/:y", route: ["x": "p q", "y": "a@b.c"], "GET /p%20q/m/a@b.c"),
            Case(
                .find, ":x/:y", route: ["x": "Zürich", "y": "a+b;c=d,e:f!$&'()*"], "GET /Z%C3%BCrich/a+b;c=d,e:f!$&'()*"
            ),
            Case(.find, ":x/:y", route: ["x": "50%", "y": "C#?[x]\"^|"], "GET /50%25/C%23%3F%5Bx%5D%22%5E%7C"),
            Case(.find, ":x/m/:x", route: ["x": "1", "unused": ".."], "GET /1/m/1"),
            Case(.find, "teams/red:blue", "GET /teams/red:blue"),
            Case(.find, "größe/a b/100%/%20?#", "GET /gr%C3%B6%C3%9Fe/a%20b/100%25/%20%3F%23"),
        ] as [Case])
    func line(_ expected: Case) async throws {
        let client = SeamHTTPClient(status: 204)
        _ = try await RESTTransport(try #require(URL(string: "http://example.com")), httpClient: client).send(
            expected.request)
        let sent = try #require(client.requests.first)
        #expect("\(sent.method) \(sent.url.absoluteString.dropFirst("http://example.com".count))" == expected.line)
        #expect(sent.body.map { String(decoding: $0, as: UTF8.self) } == expected.body)
    }

    @Test(
        "starts at the base URL, whose path is kept and whose trailing slash does not count",
        arguments: [
            ("http://h", "http://h/m/1"), ("http://h/", "http://h/m/1"), ("http://h:3030/api", "http://h:3030/api/m/1"),
            ("https://h/api/v1//", "https://h/api/v1/m/1"), ("http://[::1]:80/x", "http://[::1]:80/x/m/1"),
        ])
    func base(base: String, expected: String) async throws {
        let client = SeamHTTPClient(status: 204)
        _ = try await RESTTransport(try #require(URL(string: base)), httpClient: client).send(
            ServiceRequest(path: "m", method: .get, id: 1))
        #expect(client.requests.map(\.url.absoluteString) == [expected])
    }

    @Test("takes the call's timeout before the transport's")
    func timeout() async throws {
        let client = SeamHTTPClient(status: 204)
        let url = try #require(URL(string: "http://h"))
        let request = ServiceRequest(path: "m", method: .find, params: Params(timeout: .seconds(1)))
        _ = try await RESTTransport(url, timeout: .seconds(9), httpClient: client).send(request)
        _ = try await RESTTransport(url, timeout: .seconds(9), httpClient: client).send(
            ServiceRequest(path: "m", method: .find))
        _ = try await RESTTransport(url, timeout: nil, httpClient: client).send(
            ServiceRequest(path: "m", method: .find))
        #expect(client.requests.map(\.timeout) == [.seconds(1), .seconds(9), nil])
    }
}

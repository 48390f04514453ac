import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Synchronization
import Testing

@Suite("Hooks around endpoints")
struct EndpointHookTests {
    @Test("see the call, may change all of it, and see what came back")
    func change() async throws {
        let client = SeamHTTPClient(status: 201, headers: [("X-A", "b")], body: #"{"n":2}"#)
        let app = try EndpointRequestTests.app(client)
        let seen = Mutex<[String]>([])
        app.use(
            hooks: Hooks(
                before: [
                    "request": [
                        { context in
                            let data = context.data.map { "\($0)" } ?? "-"
                            let verb = context.endpoint?.method.rawValue ?? ""
                            seen.withLock { $0.append("\(context.method) \(context.path) \(verb) \(data)") }
                            context.params.headers["Authorization"] = "Bearer t"
                            context.params.query = ["added": 1]
                            context.data?["m"] = 3
                        }
                    ]
                ],
                after: [
                    { context in
                        seen.withLock {
                            $0.append("\(context.result ?? "?") \(context.response?[HTTPHead.self]?.status ?? 0)")
                        }
                        #expect(context.response?[HTTPHead.self]?.headers["x-a"] == "b")
                        context.result?["n"] = 4
                    }
                ]))
        #expect(
            try await app.request(Endpoint<[String: Int]>(.put, "/a/:id/", route: ["id": "7"], body: .json(["n": 1])))
                == ["n": 4])
        #expect(seen.withLock { $0 } == [#"request a/:id PUT {"n":1}"#, #"{"n":2} 201"#])
        let request = try #require(client.requests.first)
        #expect(request.headers["Authorization"] == "Bearer t")
        #expect(request.url.absoluteString == "http://home:3030/api/a/7/?added=1")
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"n":1,"m":3}"#)
    }

    @Test("answer in the server's place, whatever the response is")
    func stubbing() async throws {
        let client = SeamHTTPClient()
        let app = try EndpointRequestTests.app(client)
        app.use(hooks: Hooks(before: ["request": [{ $0.result = ["a": [1]] }]]))
        let response = try await app.response(to: Endpoint<[Int]>(.get, "x", rootKeys: ["a"]))
        #expect((response.value, response.status, response.headers.count) == ([1], 200, 0))
        #expect(response.url.absoluteString == "http://home:3030/api/x")
        #expect(try await app.request(Endpoint<Data>(.get, "x")) == Data(#"{"a":[1]}"#.utf8))
        #expect(try await app.request(Endpoint<String>(.get, "x")) == #"{"a":[1]}"#)
        #expect(try await app.request(Endpoint<Int>(.get, "x") { $0.body.count }) == 9)
        #expect(client.requests.isEmpty)
    }

    @Test("turn a failure into a success")
    func recovery() async throws {
        let app = try EndpointRequestTests.app(SeamHTTPClient(status: 500))
        app.use(hooks: Hooks(error: ["request": [{ $0.result = 7 }]]))
        let response = try await app.response(to: Endpoint<Int>(.get, "x"))
        #expect((response.value, response.status) == (7, 200))
    }

    @Test(
        "repeat what only reads, and what was never sent",
        arguments: [(HTTPMethod.get, 3), (.head, 3), (.post, 1), (.put, 1)])
    func retries(method: HTTPMethod, attempts: Int) async throws {
        let client = SeamHTTPClient(status: 503)
        let app = try EndpointRequestTests.app(client)
        app.use(hooks: .retrying(attempts: 3, pause: .zero))
        await #expect { try await app.request(Endpoint<EmptyResponse>(method, "x")) } throws: {
            FeathersError.Code.unavailable ~= $0
        }
        #expect(client.requests.count == attempts)
    }

    @Test("of logging tell the endpoint's name without what may be secret")
    func logging() async throws {
        let records = Mutex<[String]>([])
        let app = try EndpointRequestTests.app(SeamHTTPClient(status: 204))
        app.use(
            hooks: .logging { call in records.withLock { $0.append("\(call[.method] ?? "-") \(call[.path] ?? "-")") } })
        try await app.request(Endpoint<EmptyResponse>(.get, "https://user:pass@cdn.example.com:81/a%20b?sig=s3cret#x"))
        #expect(records.withLock { $0 } == ["request https://cdn.example.com:81/a%20b"])
    }

    @Test(
        "add credentials only to where they belong",
        arguments: [
            ("x", nil, .sameOrigin, true), ("http://home:3030/other", nil, .sameOrigin, true),
            ("HTTP://HOME:3030/x", nil, .sameOrigin, true),
            ("http://home/x", nil, .sameOrigin, false), ("https://home:3030/x", nil, .sameOrigin, false),
            ("http://evil/x", nil, .sameOrigin, false),
            ("x", "http://other", .sameOrigin, false), ("x", "http://home:3030/v2", .sameOrigin, true),
            ("http://other/x", nil, .include, true),
            ("x", "http://other", .include, true), ("x", nil, .omit, false),
        ] as [(String, String?, EndpointCredentials, Bool)])
    func credentials(path: String, base: String?, credentials: EndpointCredentials, areSent: Bool) async throws {
        let client = SeamHTTPClient(status: 204)
        let app = try EndpointRequestTests.app(client, headers: ["X-API-Key": "key"])
        app.use(
            hooks: Hooks(before: [
                { context in
                    #expect(context.endpoint?.carriesCredentials == areSent)
                    context.params.headers["Authorization"] = "Bearer t"
                }
            ]))
        var endpoint = Endpoint<EmptyResponse>(
            .post, path, headers: ["X-Own": "1"], body: .text("a"), baseURL: base.flatMap { URL(string: $0) })
        endpoint.credentials = credentials
        try await app.request(endpoint)
        let headers = try #require(client.requests.first?.headers)
        #expect(headers["Authorization"] == (areSent ? "Bearer t" : nil))
        #expect(headers["X-API-Key"] == (areSent ? "key" : nil))
        #expect(headers["X-Own"] == "1")
        #expect(headers["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test("never put the app's token over a foreign endpoint's own")
    func ownCredentials() async throws {
        let client = SeamHTTPClient(status: 204)
        let app = try EndpointRequestTests.app(client)
        app.use(hooks: Hooks(before: [{ $0.params.headers["Authorization"] = "Bearer app" }]))
        try await app.request(Endpoint<EmptyResponse>(.get, "http://other/x", headers: ["Authorization": "Bearer own"]))
        #expect(client.requests.first?.headers["Authorization"] == "Bearer own")
    }

    @Test("of a service with the same path do not run")
    func services() async throws {
        let app = try EndpointRequestTests.app(SeamHTTPClient(status: 204))
        await app.service("x").use(hooks: Hooks(before: [{ _ in Issue.record("a service's hook ran") }]))
        try await app.request(Endpoint<EmptyResponse>(.get, "x"))
    }

    @Test("need a way to the server, which an app without REST is told of")
    func noTransport() async throws {
        let client = SeamHTTPClient(body: "1")
        let rest = RESTTransport(try #require(URL(string: "http://h")), httpClient: client)
        let app = FeathersApp()
        let endpoint = Endpoint<Int>(.get, "x")
        await #expect { try await app.request(endpoint) } throws: { "\($0)".contains("set 'endpointTransport'") }
        #expect(try await app.request(endpoint, over: rest) == 1)
        app.endpointTransport = rest
        #expect(try await app.request(endpoint) == 1)
        #expect(client.requests.count == 2)
    }

    @Test("pass on what is in a call's params")
    func params() async throws {
        enum Tag: ParamsKey { typealias Value = String }
        let client = SeamHTTPClient(status: 204)
        let app = try EndpointRequestTests.app(client)
        app.use(hooks: Hooks(before: [{ #expect($0.params[Tag.self] == "t") }]))
        var params = Params(query: ["a": 2], headers: ["X": "call"], route: ["id": "9"])
        params[Tag.self] = "t"
        try await app.request(
            Endpoint<EmptyResponse>(.get, ":id", route: ["id": "1"], query: ["a": 1], headers: ["X": "1", "Y": "2"]),
            params: params)
        let request = try #require(client.requests.first)
        #expect(request.url.absoluteString == "http://home:3030/api/9?a=2")
        #expect([request.headers["X"], request.headers["Y"]] == ["call", "2"])
    }
}

import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("A stub HTTP client", .timeLimit(.minutes(10)))
struct StubHTTPClientTests {
    private struct Message: Codable, Equatable, Sendable {
        var id: Int
        var text: String
    }

    private func url(_ text: String = "http://api.test/v1") throws -> URL { try #require(URL(string: text)) }

    private func app(_ client: StubHTTPClient) throws -> FeathersApp {
        FeathersApp(transport: .rest(try url(), httpClient: client))
    }

    @Test("lets requests, decoding and the mapping of errors run for real")
    func forReal() async throws {
        let client = StubHTTPClient()
        client.stub("/v1/messages/1", "GET", with: .encoding(Message(id: 1, text: "Hi")))
        client.stub(
            "/v1/messages", "POST",
            with: .refusal(FeathersError(.unprocessable, "No text", errors: ["text": "missing"])))
        client.stub(
            "/v1/messages/2", with: .bytes(Array("<html>".utf8), status: 502, headers: ["Content-Type": "text/html"]))
        client.stub("/v1/messages/3", with: .error(HTTPClientError(.cannotConnect, "Nobody listens")))
        client.stub("/v1/messages/4", with: .bytes(Array("{".utf8)))
        client.stub("/v1/messages/5", "DELETE", with: .status(204))
        let messages = try app(client).service("messages", of: Message.self)

        #expect(try await messages.get(1) == Message(id: 1, text: "Hi"))
        let refusal = try await #require(throws: FeathersError.self) {
            try await messages.create(Message(id: 9, text: ""))
        }
        #expect(refusal.code == .unprocessable && refusal.errors == ["text": "missing"])
        let gateway = try await #require(throws: FeathersError.self) { try await messages.get(2) }
        #expect(gateway.code == .badGateway && gateway.response?.body == Array("<html>".utf8))
        let unreachable = try await #require(throws: FeathersError.self) { try await messages.get(3) }
        #expect(unreachable.code == .unavailable && unreachable.execution == .neverSent)
        await #expect { try await messages.get(4) } throws: { "\($0)".contains("non-JSON") }
        #expect(try await messages.json.remove(5) == nil)

        let created = try #require(client.calls(to: "/v1/messages", "POST").first)
        #expect(created.request.headers["Content-Type"] == "application/json")
        #expect(created.request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"id":9,"text":""}"#)
        #expect(created.response?.status == 422)
        #expect(created.response?.headers["content-type"] == "application/json")
        #expect(created.response?.url == created.request.url)
    }

    @Test("answers with the stub that describes a request most closely")
    func precedence() async throws {
        let client = StubHTTPClient { HTTPResponse(status: 418, url: $0.url) }
        func status(_ text: String, _ method: String = "GET") async throws -> Int {
            try await client.execute(HTTPRequest(method: method, url: try url(text))).status
        }
        #expect(try await status("http://a.test/x") == 418)
        client.stub(method: "GET", with: .status(201))
        client.stub("/x", with: .status(202))
        client.stub("HTTP://A.test:80/x/", with: .status(203))
        client.stub("/x?b=1", with: .status(206))
        client.stub("/x", "GET", with: .status(205))
        #expect(try await status("http://a.test/y") == 201)
        #expect(try await status("http://a.test/x", "PUT") == 203)
        #expect(try await status("http://b.test/x", "PUT") == 202)
        #expect(try await status("http://b.test/x/") == 205)
        #expect(try await status("http://b.test/x?b=1") == 206)
        #expect(try await status("http://b.test/x?b=2") == 205)
        client.stub(where: { $0.headers["X-Vip"] != nil }, with: .status(207))
        client.removeStub("x", "GET")
        #expect(try await status("http://b.test/x") == 202)
        client.removeAllStubs()
        #expect(try await status("http://b.test/x") == 418)
    }

    @Test("refuses what it has no stub for, by method and path, never by query")
    func strict() async throws {
        let app = try app(StubHTTPClient())
        let error = try await #require(throws: FeathersError.self) {
            try await app.service("messages").find(Query(["token": "s3cret"]))
        }
        #expect("\(error)".contains("No stub for GET /v1/messages (api.test)"))
        #expect(!"\(error)".contains("s3cret"))
    }

    @Test("hands on to another client what it has no stub for")
    func passThrough() async throws {
        let server = StubHTTPClient { HTTPResponse(status: 200, body: Array("1".utf8), url: $0.url) }
        let client = StubHTTPClient(passingThrough: server)
        client.stub("/v1/a", with: .json(2))
        let app = try app(client)
        #expect(try await app.service("a").rawFind() == 2)
        #expect(try await app.service("b").rawFind() == 1)
        #expect(server.requests.map { $0.url.path() } == ["/v1/b"])
    }

    @Test("answers with files, JSON by their name, and names one that is missing")
    func files() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "stub-\(UUID().uuidString).json")
        try Data("[1]".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let client = StubHTTPClient()
        client.stub("/v1/a", with: .file(file))
        client.stub("/v1/b", with: .file(URL(filePath: "/nowhere/b.json")))
        let app = try app(client)
        #expect(try await app.service("a").find().data == [1])
        #expect(client.calls[0].response?.headers["Content-Type"] == "application/json")
        await #expect { try await app.service("b").find() } throws: {
            "\($0)".contains("'/nowhere/b.json' does not exist")
        }
    }

    @Test("follows redirects as the request allows")
    func redirects() async throws {
        let client = StubHTTPClient()
        client.stub("/old", with: .status(303, headers: ["Location": "/new"]))
        client.stub("/new", with: .json("here"))
        client.stub("/loop", with: .status(302, headers: ["Location": "/loop"]))
        let response = try await client.execute(
            HTTPRequest(method: "POST", url: try url("http://a.test/old"), body: [1]))
        #expect(response.status == 200 && response.url.path() == "/new")
        #expect(client.requests.map(\.method) == ["POST", "GET"])
        let unfollowed = try await client.execute(HTTPRequest(url: try url("http://a.test/old"), redirects: .never))
        #expect(unfollowed.status == 303)
        let loop = try await #require(throws: HTTPClientError.self) {
            try await client.execute(HTTPRequest(url: try url("http://a.test/loop"), redirects: .follow(maximum: 3)))
        }
        #expect(loop.kind == .tooManyRedirects)
    }

    @Test("keeps deadlines and size limits, and ends what is cancelled")
    func limits() async throws {
        let clock = ManualClock()
        let client = StubHTTPClient(clock: clock)
        client.stub("/slow", with: .unanswered)
        client.stub("/large", with: .bytes([1, 2, 3]))
        let slow = try url("http://a.test/slow")
        async let outcome = Result { try await client.execute(HTTPRequest(url: slow, timeout: .seconds(3))) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        let result = await outcome
        #expect(try #require(throws: HTTPClientError.self) { try result.get() }.kind == .timeout)
        let large = try await #require(throws: HTTPClientError.self) {
            try await client.execute(HTTPRequest(url: try url("http://a.test/large"), maximumResponseBytes: 2))
        }
        #expect(large.kind == .responseTooLarge)
        let task = Task { try await client.execute(HTTPRequest(url: slow)) }
        try await client.waitForRequest(number: 3)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("never meets another one, with two apps at work at once")
    func isolation() async throws {
        func work(_ name: String) async throws -> Set<JSONValue> {
            let client = StubHTTPClient()
            client.stub(
                "/v1/messages", "GET", with: .cycle([.json(.string("\(name) 0")), .json(.string("\(name) 1"))]))
            let messages = try app(client).service("messages")
            var answers: Set<JSONValue> = []
            for _ in 0..<50 { answers.insert(try await messages.rawFind()) }
            #expect(client.calls.count == 50)
            return answers
        }
        async let first = work("first")
        async let second = work("second")
        #expect(try await first == ["first 0", "first 1"])
        #expect(try await second == ["second 0", "second 1"])
    }
}

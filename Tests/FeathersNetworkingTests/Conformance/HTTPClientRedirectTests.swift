import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("Redirects of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientRedirectTests {
    private func request(_ url: URL, _ method: String = "GET", redirects: HTTPRedirectPolicy = .follow(maximum: 20)) throws -> HTTPRequest {
        var headers = HTTPHeaders()
        try headers.set("Authorization", to: "Bearer secret")
        try headers.set("X-Kept", to: "yes")
        try headers.set("Accept-Language", to: "de")
        return HTTPRequest(
            method: method, url: url, headers: headers, body: method == "POST" ? [0x7b, 0x7d] : nil, timeout: .seconds(20),
            redirects: redirects)
    }

    private func redirecting(_ status: Int, to location: @escaping (URL) -> String) async throws -> ServerScript {
        try await ServerScript {
            [ScriptedResponse(status: status, headers: [["Location", location($0)]], body: "moved"), ScriptedResponse(body: "here")]
        }
    }

    @Test(
        "are followed, as GET where they say so", arguments: TestedClient.all, [(303, "GET"), (302, "GET"), (307, "POST"), (308, "POST")])
    func followed(tested: TestedClient, expectation: (status: Int, method: String)) async throws {
        let (status, expected) = expectation
        let client = try tested.make()
        let script = try await redirecting(status) { $0.path() + "/there?x=%C3%BC" }
        let response = try await client.execute(try request(script.url, "POST"))
        #expect(response.status == 200)
        #expect(response.body == Array("here".utf8))
        #expect(response.url.absoluteString == script.url.absoluteString + "/there?x=%C3%BC")
        let requests = try await script.requests()
        #expect(requests.map(\.line) == ["POST \(script.url.path()) HTTP/1.1", "\(expected) \(script.url.path())/there?x=%C3%BC HTTP/1.1"])
        #expect(requests.last?.body == (expected == "POST" ? [0x7b, 0x7d] : []))
        #expect(requests.last?.header("Authorization") == "Bearer secret")
        #expect(requests.last?.header("X-Kept") == "yes")
    }

    @Test("to another origin leave behind what may tell who asks", arguments: TestedClient.all)
    func credentials(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await redirecting(302) { $0.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "localhost") }
        _ = try await client.execute(try request(script.url))
        let requests = try await script.requests()
        #expect(requests.map { $0.header("Authorization") } == ["Bearer secret", nil])
        #expect(requests.map { $0.header("X-Kept") } == ["yes", nil])
        #expect(requests.map { $0.header("Accept-Language") } == ["de", "de"])
    }

    @Test("in a circle end", arguments: TestedClient.all)
    func circle(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript { [ScriptedResponse(status: 302, headers: [["Location", $0.path()]])] }
        let error = try await #require(throws: HTTPClientError.self) {
            try await client.execute(try request(script.url, redirects: .follow(maximum: 5)))
        }
        #expect(error.kind == .tooManyRedirects)
        #expect(try await script.requests().count == 6)
    }

    @Test("are returned where they shall not be followed", arguments: TestedClient.all)
    func never(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await redirecting(302) { $0.path() }
        let response = try await client.execute(try request(script.url, redirects: .never))
        #expect(response.status == 302)
        #expect(response.headers["Location"] == script.url.path())
        #expect(try await script.requests().count == 1)
    }

    @Test("to where nothing listens may have been executed at first", arguments: TestedClient.all)
    func unreachable(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await redirecting(307) { _ in "http://127.0.0.1:1/" }
        let error = try await client.failure(try request(script.url, "POST"))
        #expect(error.kind == .cannotConnect)
        #expect(error.delivery == .mayHaveExecuted)
    }

    @Test("do not extend the deadline", arguments: TestedClient.all)
    func deadline(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript {
            [ScriptedResponse(status: 302, headers: [["Location", $0.path()]]).with { $0.delayMs = 60 }]
        }
        var request = try request(script.url)
        request.timeout = .milliseconds(300)
        let error = try await #require(throws: HTTPClientError.self) { try await client.execute(request) }
        #expect(error.kind == .timeout)
    }
}

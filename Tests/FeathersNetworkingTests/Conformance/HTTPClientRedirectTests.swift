import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("Redirects of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientRedirectTests {
    private func request(_ url: URL, _ method: String = "GET", redirects: HTTPRedirectPolicy = .follow(maximum: 20))
        throws -> HTTPRequest
    {
        var headers = HTTPHeaders()
        try headers.set("Authorization", to: "Bearer secret")
        try headers.set("X-Kept", to: "yes")
        try headers.set("Accept-Language", to: "de")
        return HTTPRequest(
            method: method, url: url, headers: headers, body: method == "POST" ? [0x7b, 0x7d] : nil,
            timeout: .seconds(20),
            redirects: redirects)
    }

    private func redirecting(_ status: Int, to location: @escaping (URL) -> String) async throws -> ServerScript {
        try await ServerScript {
            [
                ScriptedResponse(status: status, headers: [["Location", location($0)]], body: "moved"),
                ScriptedResponse(body: "here"),
            ]
        }
    }

    @Test(
        "are followed, as GET where they say so", arguments: TestedClient.all,
        [(303, "GET"), (302, "GET"), (307, "POST"), (308, "POST")])
    func followed(tested: TestedClient, expectation: (status: Int, method: String)) async throws {
        let (status, expected) = expectation
        let client = try tested.make()
        let script = try await redirecting(status) { $0.path() + "/there?x=%C3%BC" }
        let response = try await client.execute(try request(script.url, "POST"))
        #expect(response.status == 200)
        #expect(response.body == Array("here".utf8))
        #expect(response.url.absoluteString == script.url.absoluteString + "/there?x=%C3%BC")
        let requests = try await script.requests()
        #expect(
            requests.map(\.line) == [
                "POST \(script.url.path()) HTTP/1.1", "\(expected) \(script.url.path())/there?x=%C3%BC HTTP/1.1",
            ])
        #expect(requests.last?.body == (expected == "POST" ? [0x7b, 0x7d] : []))
        #expect(requests.last?.header("Authorization") == "Bearer secret")
        #expect(requests.last?.header("X-Kept") == "yes")
    }

    @Test("to another origin leave behind what may tell who asks", arguments: TestedClient.all)
    func credentials(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await redirecting(302) {
            $0.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "localhost")
        }
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

    @Test(
        "that would change the method fail as requests that may have been executed, if the policy says so",
        arguments: TestedClient.all, [301, 302, 303])
    func sameMethod(tested: TestedClient, status: Int) async throws {
        let client = try tested.make()
        let script = try await redirecting(status) { $0.path() + "/there" }
        let error = try await client.failure(
            try request(script.url, "POST", redirects: .followSameMethod(maximum: 20)))
        #expect(error.kind == .methodChanged && error.delivery == .mayHaveExecuted)
        #expect(try await script.requests().count == 1)
    }

    @Test("to another origin say so in the response", arguments: TestedClient.all, [true, false])
    func lostFields(tested: TestedClient, isStreamed: Bool) async throws {
        let client = try tested.make()
        let script = try await redirecting(302) {
            $0.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "localhost")
        }
        let request = try request(script.url)
        let response =
            isStreamed
            ? try await client.stream(HTTPTransfer(request, pipe: HTTPBodyPipe())) : try await client.execute(request)
        #expect(response.hasLostFields)
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

    /// A server that redirects from https to http, with the requests it gets.
    private func insecure(_ status: Int) async throws -> (script: ServerScript, url: URL) {
        let script = try await redirecting(status) { $0.absoluteString + "/s3cret" }
        return (script, try await script.secureURL())
    }

    private func expectRefusal(_ error: HTTPClientError, by script: ServerScript) async throws {
        #expect(error.kind == .invalidRedirect && error.delivery == .mayHaveExecuted)
        #expect(error.message.contains("from https://localhost:") && error.message.contains("to http://127.0.0.1:"))
        #expect(!"\(error)".contains("s3cret"))
        #expect(try await script.requests().count == 1)
    }

    #if os(Linux)
        @Test("from https to http are not followed by libcurl", arguments: [302, 307], [false, true])
        func insecureOverCurl(status: Int, isStreamed: Bool) async throws {
            let certificate = try await TestBackend.secureScriptServer().certificate
            let client = try CurlHTTPClient(tls: TLSConfiguration(trust: .certificates(in: certificate)))
            let (script, url) = try await insecure(status)
            let request = try request(url, "POST")
            let error = try await #require(throws: HTTPClientError.self) {
                if !isStreamed { return try await client.execute(request) }
                return try await client.stream(
                    HTTPTransfer(request, body: request.body.map { HTTPBody($0) }, pipe: HTTPBodyPipe()))
            }
            try await expectRefusal(error, by: script)
        }
    #endif
}

import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("An HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientExchangeTests {
    @Test(
        "sends the request target byte for byte",
        arguments: TestedClient.all,
        [
            "/a%2Fb", "/a?b%5B0%5D=x&c=%C3%BC", "/!'()*~:@$&+,;=", "/a?$limit=1&x='()*!~", "/a//b/", "/a?x=/../y",
            "/a?", "/%F0%9F%98%80",
        ])
    func target(tested: TestedClient, target: String) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse())
        let url = try #require(URL(string: script.url.absoluteString + target, encodingInvalidCharacters: false))
        _ = try await client.execute(HTTPRequest(url: url))
        #expect(try await script.requests().map(\.line) == ["GET \(script.url.path())\(target) HTTP/1.1"])
    }

    @Test(
        "sends method, headers and body as given", arguments: TestedClient.all,
        ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
    func body(tested: TestedClient, method: String) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(status: 201, headers: [["X-Answer", "42"]], body: "ü"))
        var headers = HTTPHeaders()
        try headers.set("X-Mixed-Case", to: "as given ü")
        try headers.set("X-Empty", to: "")
        let bytes: [UInt8] = [0, 0xff, 0x0d, 0x0a]
        let response = try await client.execute(
            HTTPRequest(method: method, url: script.url, headers: headers, body: bytes))
        #expect(response.status == 201)
        #expect(response.headers["x-answer"] == "42")
        #expect(response.body == Array("ü".utf8))
        #expect(response.url == script.url)
        let request = try #require(try await script.requests().first)
        #expect(request.line.hasPrefix(method + " "))
        // The script server reads header bytes as Latin-1: this is the value in UTF-8.
        #expect(request.header("X-Mixed-Case") == "as given Ã¼")
        #expect(request.header("Expect") == nil)
        #expect(request.body == bytes)
    }

    @Test("says that a body is empty where there is none", arguments: TestedClient.all, ["POST", "PUT", "PATCH"])
    func emptyBody(tested: TestedClient, method: String) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse())
        _ = try await client.execute(HTTPRequest(method: method, url: script.url))
        let request = try #require(try await script.requests().first)
        #expect(request.body.isEmpty)
        #expect(request.header("Content-Length") == "0")
    }

    @Test(
        "reads answers without body",
        arguments: TestedClient.all, [("GET", 204), ("GET", 304), ("HEAD", 200), ("GET", 200), ("DELETE", 204)])
    func bodiless(tested: TestedClient, exchange: (method: String, status: Int)) async throws {
        let (method, status) = exchange
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(status: status, body: method == "HEAD" ? "not sent" : ""))
        let response = try await client.execute(HTTPRequest(method: method, url: script.url, timeout: .seconds(10)))
        #expect(response.status == status)
        #expect(response.body.isEmpty)
    }

    @Test("decompresses gzip", arguments: TestedClient.all)
    func gzip(tested: TestedClient) async throws {
        let client = try tested.make()
        let answer = ScriptedResponse(headers: [["Content-Encoding", "gzip"]]).with {
            $0.bodyBase64 = "H4sIAAAAAAACA6tWqsosULIyrAUAdRCzegkAAAA="
        }
        let response = try await client.execute(HTTPRequest(url: try await ServerScript(answer).url))
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"zip":1}"#)
    }

    @Test("reads chunked and slowly dripping bodies whole", arguments: TestedClient.all)
    func slow(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(
            ScriptedResponse(body: String(repeating: "ü", count: 5000)).with { $0.chunked = true },
            ScriptedResponse(body: "dripping").with { ($0.dripMs, $0.dripBytes) = (5, 1) })
        #expect(try await client.execute(HTTPRequest(url: script.url)).body.count == 10_000)
        #expect(try await client.execute(HTTPRequest(url: script.url)).body == Array("dripping".utf8))
    }

    @Test("keeps no cookies", arguments: TestedClient.all)
    func cookies(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(headers: [["Set-Cookie", "a=1; Path=/"]]))
        for _ in 1...2 { _ = try await client.execute(HTTPRequest(url: script.url)) }
        #expect(try await script.requests().compactMap { $0.header("Cookie") } == [])
    }

    @Test(
        "treats a 401 as an answer, whatever it asks for",
        arguments: TestedClient.all, ["Basic realm=\"x\"", "Bearer", "Digest realm=\"a\", nonce=\"b\"", "NTLM", "=,\""])
    func challenge(tested: TestedClient, challenge: String) async throws {
        let client = try tested.make()
        let script = try await ServerScript(
            ScriptedResponse(status: 401, headers: [["WWW-Authenticate", challenge]], body: "why"))
        let response = try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(10)))
        #expect(response.status == 401)
        #expect(response.body == Array("why".utf8))
        #expect(try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(10))).status == 401)
    }

    @Test("serves 200 callers at once", arguments: TestedClient.all)
    func concurrent(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let url = script.url.appending(path: String(number))
                    return try await client.execute(HTTPRequest(url: url, timeout: .seconds(30))).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 200))
        #expect(Set(try await script.requests().map(\.line)).count == 200)
    }
}

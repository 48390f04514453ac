import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("Failures of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientFailureTests {
    @Test(
        "to reach the server say that nothing was sent",
        arguments: TestedClient.all,
        [("http://127.0.0.1:1/", .cannotConnect), ("http://no-such-host.invalid/", .hostNotFound)]
            as [(String, HTTPClientError.Kind)])
    func unreachable(tested: TestedClient, expected: (url: String, kind: HTTPClientError.Kind)) async throws {
        let client = try tested.make()
        let url = try #require(URL(string: expected.url))
        let error = try await client.failure(HTTPRequest(url: url, timeout: .seconds(20)))
        #expect(error.kind == expected.kind)
        #expect(error.delivery == .neverSent)
        #expect(error.host == url.hostAndPort)
    }

    @Test(
        "of the URL or method are told before anything is sent",
        arguments: TestedClient.all, ["ftp://h/", "file:///etc/passwd", "http:///x", "http://h:0/", "h"])
    func invalid(tested: TestedClient, text: String) async throws {
        let client = try tested.make()
        let error = try await client.failure(HTTPRequest(url: try #require(URL(string: text))))
        #expect(error.kind == .invalidURL)
        #expect(error.delivery == .neverSent)
    }

    @Test("of the method are told before anything is sent", arguments: TestedClient.all, ["", "GET /x", "G\r\nX: y"])
    func invalidMethod(tested: TestedClient, method: String) async throws {
        let client = try tested.make()
        let error = try await client.failure(
            HTTPRequest(method: method, url: try #require(URL(string: "http://127.0.0.1:1"))))
        #expect(error.kind == .invalidHeader)
    }

    @Test(
        "to be quick enough are timeouts, and the connection ends", arguments: TestedClient.all,
        [ScriptedResponse.never, dripping])
    func timeout(tested: TestedClient, response: ScriptedResponse) async throws {
        let client = try tested.make()
        let script = try await ServerScript(response)
        let error = try await client.failure(HTTPRequest(url: script.url, timeout: .seconds(2)))
        #expect(error.kind == .timeout)
        #expect(error.delivery == .mayHaveExecuted)
        #expect(try await script.requests(count: 1, aborted: 1).first?.aborted == true)
    }

    static let dripping = ScriptedResponse(body: String(repeating: "x", count: 5000)).with { $0.dripMs = 5 }

    @Test(
        "to be quick enough include deadlines that have passed and absurd ones", arguments: TestedClient.all,
        [Duration.zero, .seconds(-5)])
    func passedDeadline(tested: TestedClient, timeout: Duration) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse.never)
        #expect(try await client.failure(HTTPRequest(url: script.url, timeout: timeout)).kind == .timeout)
        let quick = try await ServerScript(ScriptedResponse())
        #expect(try await client.execute(HTTPRequest(url: quick.url, timeout: .seconds(Int64.max / 4))).status == 200)
    }

    @Test(
        "to finish are lost connections",
        arguments: TestedClient.all,
        [
            ScriptedResponse(body: "0123456789").with { $0.closeAfterBytes = 3 },
            ScriptedResponse(body: "0123456789").with { ($0.chunked, $0.closeAfterBytes) = (true, 5) },
            .raw(""),
        ])
    func truncated(tested: TestedClient, response: ScriptedResponse) async throws {
        let client = try tested.make()
        let error = try await client.failure(
            HTTPRequest(url: try await ServerScript(response).url, timeout: .seconds(20)))
        #expect(error.kind == .connectionLost)
        #expect(error.delivery == .mayHaveExecuted)
    }

    @Test(
        "to speak HTTP never end the process",
        arguments: TestedClient.all,
        [
            "HTTP/x 200\r\n\r\nabc", "hello", "HTTP/1.1 000 X\r\n\r\n", "HTTP/1.1 99999 X\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Encoding: weird\r\nContent-Length: 3\r\n\r\nabc",
        ])
    func malformed(tested: TestedClient, text: String) async throws {
        let client = try tested.make()
        let error = try await client.failure(
            HTTPRequest(url: try await ServerScript(.raw(text)).url, timeout: .seconds(20)))
        #expect(error.kind == .badResponse)
        #expect(error.delivery == .mayHaveExecuted)
    }

    @Test("include a head without end", arguments: TestedClient.all)
    func endlessHead(tested: TestedClient) async throws {
        let client = try tested.make()
        let head = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 400_000) + "\r\n\r\n"
        let error = try await client.failure(
            HTTPRequest(url: try await ServerScript(.raw(head)).url, timeout: .seconds(20)))
        #expect(error.kind == .badResponse)
    }

    @Test(
        "are not what odd but readable answers are",
        arguments: TestedClient.all,
        [
            ("HTTP/1.1 999 X\r\nContent-Length: 3\r\n\r\nabc", 999),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcEXTRA", 200),
            (
                """
                HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n\
                HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc
                """,
                200
            ),
            ("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", 302), ("HTTP/1.0 200 OK\r\n\r\nabc", 200),
        ])
    func odd(tested: TestedClient, answer: (text: String, status: Int)) async throws {
        let client = try tested.make()
        let response = try await client.execute(
            HTTPRequest(url: try await ServerScript(.raw(answer.text)).url, timeout: .seconds(20)))
        #expect(response.status == answer.status)
    }

    @Test("to stay within the size limit end the exchange early", arguments: TestedClient.all, [nil, "gzip"])
    func tooLarge(tested: TestedClient, encoding: String?) async throws {
        let client = try tested.make()
        // 3 MiB of zeros, 3 KB when compressed.
        let large = ScriptedResponse(headers: encoding.map { [["Content-Encoding", $0]] } ?? []).with {
            if encoding != nil {
                $0.bodyBase64 = Self.compressedZeros
            } else {
                $0.body = String(repeating: "x", count: 3 << 20)
            }
        }
        let script = try await ServerScript(large)
        let error = try await client.failure(
            HTTPRequest(url: script.url, timeout: .seconds(20), maximumResponseBytes: 1 << 20))
        #expect(error.kind == .responseTooLarge)
        #expect(error.delivery == .mayHaveExecuted)
        #expect(
            try await client.execute(HTTPRequest(url: script.url, maximumResponseBytes: 3 << 20)).body.count == 3 << 20)
    }

    private static let compressedZeros =
        "H4sIAAAAAAACA+3BAQ0AAADCoPdPbQ43o" + String(repeating: "A", count: 4064) + "L4Nxk9yeQAAMAA="
}

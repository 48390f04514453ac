import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("The test backend")
struct TestBackendTests {
    @Test("says in one sentence what to install when there is no Python")
    func missingPython() {
        let python = PythonInstallation(candidates: ["/nowhere/python3", "no-such-python"])
        #expect {
            try python.executable()
        } throws: { error in
            "\(error)" == BackendUnavailable.python.description
                && "\(error)".hasPrefix("The integration tests need Python 3.9 or later")
        }
    }

    @Test("uses the server it is told to, without starting one")
    func externalServer() async throws {
        let given = try #require(URL(string: "http://backend.example:3030"))
        let backend = TestBackend(python: PythonInstallation(candidates: []), externalURL: given)
        #expect(try await backend.url() == given)
    }

    @Test("finds the recorded traffic")
    func recordings() {
        #expect(FileManager.default.fileExists(atPath: WireRecordings.folder.appending(path: "rest.json").path))
    }

    @Test("names a set of pins the same way in every process")
    func stableHash() {
        #expect(VirtualEnvironment.stableHash(of: Data("aiohttp".utf8)) == "d2629933e7dbe730")
    }
}

@Suite("The running test backend", .inTurn, .enabled(if: !TestBackend.isSkipped))
struct RunningTestBackendTests {
    @Test("answers a service call")
    func answers() async throws {
        let url = try await TestBackend.url().appending(path: "echo")
        let response = try await TestControl.answer(to: HTTPRequest(url: url))
        #expect(response.status == 200)
        let seen = try JSONDecoder().decode(Echo.self, from: Data(response.body))
        #expect(seen == Echo(method: "find", provider: "rest"))
    }

    @Test("is the same for everyone who asks")
    func sharedByAll() async throws {
        async let first = TestBackend.scriptServer()
        async let second = TestBackend.scriptServer()
        #expect(try await first == second)
    }

    @Test("is started once more, and differently, on request")
    func variant() async throws {
        let backend = TestBackend(variables: ["NODE_ENV": "production", "COMPRESS": "1"])
        let url = try await backend.url()
        #expect(try await TestBackend.url() != url)
        var request = HTTPRequest(url: url.appending(path: "big/5000"))
        try request.headers.set("Accept-Encoding", to: "gzip")
        let response = try await TestControl.answer(to: request)
        #expect(response.headers["Content-Encoding"] == "gzip")
    }

    @Test("records a request byte for byte and answers with what was scripted")
    func script() async throws {
        let server = try await TestBackend.scriptServer()
        let key = "script-\(UUID())"
        let script =
            #"{"responses":[{"status":418,"reason":"Teapot","headers":[["X-Answer","42"]],"body":"ü","chunked":true}]}"#
        _ = try await TestControl.answer(
            to: HTTPRequest(method: "POST", url: server.appending(path: "__script/\(key)"), body: Array(script.utf8)))

        var request = HTTPRequest(
            method: "POST", url: try #require(URL(string: "\(server)/\(key)/a%2Fb?q=%20")), body: [0, 0xff, 0x0d, 0x0a])
        try request.headers.set("X-Mixed-Case", to: "As Given")
        let answer = try await TestControl.answer(to: request)
        #expect(answer.status == 418)
        #expect(answer.headers["X-Answer"] == "42")
        #expect(String(decoding: answer.body, as: UTF8.self) == "ü")

        let records = try await TestControl.answer(to: HTTPRequest(url: server.appending(path: "__recorded/\(key)")))
        let recorded = try JSONDecoder().decode(Recorded.self, from: Data(records.body))
        let only = try #require(recorded.requests.first)
        #expect(recorded.requests.count == 1)
        #expect(only.line == "POST /\(key)/a%2Fb?q=%20 HTTP/1.1")
        #expect(only.headers.contains(["X-Mixed-Case", "As Given"]))
        #expect(Data(base64Encoded: only.bodyBase64).map(Array.init) == request.body)
    }

    private struct Echo: Decodable, Equatable {
        let method: String
        let provider: String
    }

    private struct Recorded: Decodable {
        let requests: [Request]

        struct Request: Decodable {
            let line: String
            let headers: [[String]]
            let bodyBase64: String
        }
    }
}

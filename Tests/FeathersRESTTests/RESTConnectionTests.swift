import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import TestBackend
import Testing

@Suite("REST over a real connection", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct RESTConnectionTests {
    private func find(_ script: ServerScript, timeout: Duration = .seconds(20)) async throws -> JSONValue {
        try await RESTTransport.rest(script.url, timeout: timeout).send(ServiceRequest(path: "messages", method: .find))
            .result
    }

    @Test("cancelling a call ends its HTTP request")
    func cancellation() async throws {
        let script = try await ServerScript(.never)
        let call = Task { try await find(script) }
        _ = try await script.requests(count: 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await script.requests(count: 1, aborted: 1).first?.aborted == true)
    }

    @Test("a call's own timeout wins, and says that the call may have been executed")
    func timeout() async throws {
        let script = try await ServerScript(.never)
        let request = ServiceRequest(path: "messages", method: .create, data: [:], params: Params(timeout: .seconds(2)))
        let error = try await #require(throws: FeathersError.self) {
            try await RESTTransport.rest(script.url).send(request)
        }
        #expect(error.code == .timeout)
        #expect(error.execution == .mayHaveExecuted)
    }

    @Test(
        "an unreachable server is unavailable and never saw the call",
        arguments: ["http://127.0.0.1:1", "http://no-such-host.invalid"])
    func unreachable(base: String) async throws {
        let transport = RESTTransport(try #require(URL(string: base)))
        let error = try await #require(throws: FeathersError.self) {
            try await transport.send(ServiceRequest(path: "messages", method: .find))
        }
        #expect(error.code == .unavailable)
        #expect(error.execution == .neverSent)
        #expect(error.message.contains(base.dropFirst("http://".count)))
    }

    @Test("an answer cut off in the middle is unavailable, and the call may have been executed")
    func truncated() async throws {
        let script = try await ServerScript(ScriptedResponse(body: #"{"a":1}"#).with { $0.closeAfterBytes = 3 })
        let error = try await #require(throws: FeathersError.self) { try await find(script) }
        #expect(error.code == .unavailable)
        #expect(error.execution == .mayHaveExecuted)
    }

    @Test("what is no HTTP is a bad gateway")
    func malformed() async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await find(try await ServerScript(.raw("HTTP/x 200\r\n\r\nabc")))
        }
        #expect(error.code == .badGateway)
    }

    @Test("a call follows the redirect a service sets, credentials kept within the origin")
    func redirect() async throws {
        let script = try await ServerScript {
            [
                ScriptedResponse(status: 307, headers: [["Location", $0.path() + "/messages/2"]]),
                ScriptedResponse(body: #"{"id":2}"#),
            ]
        }
        let request = ServiceRequest(
            path: "messages", method: .create, data: [:], params: Params(headers: ["Authorization": "Bearer t"]))
        #expect(try await RESTTransport.rest(script.url).send(request).result == ["id": 2])
        let requests = try await script.requests()
        #expect(requests.map { String($0.line.prefix(4)) } == ["POST", "POST"])
        #expect(requests.map { $0.header("Authorization") } == ["Bearer t", "Bearer t"])
    }

    @Test("200 calls at once get their own answers")
    func concurrent() async throws {
        let script = try await ServerScript(ScriptedResponse(body: "[]"))
        let transport = RESTTransport(script.url)
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for id in 0..<200 {
                group.addTask {
                    try await transport.send(ServiceRequest(path: "messages", method: .get, id: ServiceID(id))).result
                }
            }
            for try await result in group { #expect(result == []) }
        }
        #expect(Set(try await script.requests().map(\.line)).count == 200)
    }
}

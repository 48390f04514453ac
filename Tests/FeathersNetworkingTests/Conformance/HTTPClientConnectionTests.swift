import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("Connections of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientConnectionTests {
    @Test("are kept and used again, whatever the requests are", arguments: TestedClient.all)
    func reuse(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let methods = ["GET", "HEAD", "POST", "GET", "DELETE", "PATCH", "HEAD", "PUT", "GET"]
        for method in methods {
            let body: [UInt8]? = ["POST", "PUT", "PATCH"].contains(method) ? Array(method.utf8) : nil
            let response = try await client.execute(
                HTTPRequest(method: method, url: script.url, body: body, timeout: .seconds(10)))
            #expect(response.body == (method == "HEAD" ? [] : Array("ok".utf8)))
        }
        let requests = try await script.requests()
        #expect(requests.map { $0.line.prefix { $0 != " " } } == methods.map { $0[...] })
        #expect(requests.map(\.body) == methods.map { ["POST", "PUT", "PATCH"].contains($0) ? Array($0.utf8) : [] })
        #expect(Set(requests.map(\.connection)).count == 1)
    }

    @Test("that the server ended are replaced", arguments: TestedClient.all)
    func replaced(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(headers: [["Connection", "close"]], body: "ok"))
        for _ in 1...3 {
            let response = try await client.execute(
                HTTPRequest(method: "POST", url: script.url, body: [1], timeout: .seconds(10)))
            #expect(response.status == 200)
        }
        #expect(Set(try await script.requests().map(\.connection)).count == 3)
    }

    @Test("that are reset within the answer are lost", arguments: TestedClient.all)
    func reset(tested: TestedClient) async throws {
        let client = try tested.make()
        let reset = ScriptedResponse(body: String(repeating: "x", count: 100_000)).with {
            ($0.closeAfterBytes, $0.reset) = (50_000, true)
        }
        let script = try await ServerScript(reset)
        for _ in 1...20 {
            let error = try await client.failure(HTTPRequest(url: script.url, timeout: .seconds(20)))
            #expect(error.kind == .connectionLost)
            #expect(error.delivery == .mayHaveExecuted)
        }
    }

    @Test("carry large bodies both ways", arguments: TestedClient.all)
    func largeBodies(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(
            ScriptedResponse(body: String(repeating: "0123456789abcdef", count: 1 << 16)))
        let body = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let response = try await client.execute(
            HTTPRequest(method: "PUT", url: script.url, body: body, timeout: .seconds(30)))
        #expect(response.body.count == 1 << 20)
        #expect(response.body.suffix(16) == Array("0123456789abcdef".utf8)[...])
        #expect(try await script.requests().first?.body == body)
    }

    @Test("carry an answer that comes before the request is complete", arguments: TestedClient.all)
    func earlyAnswer(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(
            ScriptedResponse(status: 413, headers: [["Connection", "close"]], body: "too large"))
        let body = [UInt8](repeating: 0x61, count: 3 << 20)
        let response = try await client.execute(
            HTTPRequest(method: "POST", url: script.url, body: body, timeout: .seconds(30)))
        #expect(response.status == 413)
    }
}

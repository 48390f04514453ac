import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("TLS of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientTLSTests {
    @Test("refuses a self-signed certificate before anything is sent", arguments: TestedClient.all)
    func selfSigned(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse())
        let error = try await client.failure(HTTPRequest(url: try await script.secureURL(), timeout: .seconds(20)))
        #expect(error.kind == .tls)
        #expect(error.delivery == .neverSent)
        #expect(error.host?.hasPrefix("localhost:") == true)
        #expect(try await script.requests().isEmpty)
    }

    @Test("is refused where the server does not speak it", arguments: TestedClient.all)
    func plainServer(tested: TestedClient) async throws {
        let client = try tested.make()
        // The services answer what is no HTTP with a 400; the script server would wait for the head's end.
        var address = try #require(URLComponents(url: try await TestBackend.url(), resolvingAgainstBaseURL: false))
        address.scheme = "https"
        let error = try await client.failure(HTTPRequest(url: try #require(address.url), timeout: .seconds(20)))
        #expect(error.kind == .tls)
        #expect(error.delivery == .neverSent)
    }
}

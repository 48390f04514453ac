import Foundation
import TestBackend
import Testing

@testable import FeathersNetworking

@Suite("The URLSession client's lifetime", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct URLSessionLifetimeTests {
    @Test("nothing is left of a client that is dropped")
    func deinitialized() async throws {
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        weak var reports: URLSessionReports?
        do {
            let client = URLSessionHTTPClient()
            reports = client.reports
            for _ in 0..<3 { #expect(try await client.execute(HTTPRequest(url: script.url)).status == 200) }
        }
        // The session holds its delegate. Every look costs a round trip; the suite's time limit is the other outcome.
        let other = URLSessionHTTPClient()
        while reports != nil { _ = try await other.execute(HTTPRequest(url: script.url)) }
    }

    @Test("nothing is left of an exchange that has ended")
    func exchange() async throws {
        final class Owner: Sendable {}
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let client = URLSessionHTTPClient()
        weak var owner: Owner?
        do {
            let strong = Owner()
            owner = strong
            let transfer = HTTPTransfer(HTTPRequest(url: script.url)) { _ in withExtendedLifetime(strong) {} }
            #expect(try await client.execute(transfer).status == 200)
        }
        while owner != nil { _ = try await client.execute(HTTPRequest(url: script.url)) }
    }
}

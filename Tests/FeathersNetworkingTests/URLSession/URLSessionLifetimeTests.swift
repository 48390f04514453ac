import Foundation
import TestBackend
import Testing

@testable import FeathersNetworking

@Suite("The URLSession client's lifetime", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct URLSessionLifetimeTests {
    @Test("nothing is left of a client that is dropped")
    func deinitialized() async throws {
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let (gone, continuation) = AsyncStream.makeStream(of: Void.self)
        func use() async throws {
            let client = URLSessionHTTPClient()
            client.onDelegateEnd { continuation.finish() }
            for _ in 0..<3 { #expect(try await client.execute(HTTPRequest(url: script.url)).status == 200) }
            #expect(client.exchangesUnderWay == 0)
        }
        try await use()
        // Ends when the session has let go of its delegate; the suite's time limit is the other outcome.
        for await _ in gone {}
    }
}

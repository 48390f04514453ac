import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import Testing

@testable import FeathersREST

@Suite("The ids of events", .timeLimit(.minutes(10)))
struct LastEventIDTests {
    private let streams = SampleStreams()

    /// The id that is sent after a server has set 7 and then another one.
    private func sent(after id: String) async throws -> String? {
        let clock = ManualClock()
        let app = FeathersApp(
            transport: .rest(URL(string: "http://sample.test/api")!, timeout: nil, httpClient: streams))
        let events = app.eventSource("notifications", as: String.self, clock: clock)
        let reader = Task { for try await _ in events {} }
        let opening = try await streams.opening(1)
        opening.accept()
        opening.send("id: 7\ndata: a\n\nid: \(id)\ndata: b\n\n")
        opening.end()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let second = try await streams.opening(2)
        reader.cancel()
        _ = await reader.result
        return second.request.headers["Last-Event-ID"]
    }

    @Test("are sent back", arguments: ["8", "é😀", "a b\tc", String(repeating: "x", count: 4096)])
    func sendable(_ id: String) async throws { #expect(try await sent(after: id) == id) }

    @Test(
        "are ignored if no header field can have them, or if they are longer than 4096 bytes",
        arguments: [
            "8\u{0}", "\u{1}", "8\u{1B}[31m", "8\u{7F}", String(repeating: "x", count: 4097),
            String(repeating: "é", count: 2049),
        ])
    func others(_ id: String) async throws { #expect(try await sent(after: id) == "7") }
}

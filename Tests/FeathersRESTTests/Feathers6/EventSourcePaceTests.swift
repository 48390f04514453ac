import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersREST

@Suite("The pace of event sources", .timeLimit(.minutes(10)))
struct EventSourcePaceTests {
    private let streams = SampleStreams()
    private let clock = NotedClock()

    /// Opens connections as the server ends them, and returns the pauses between them.
    private func pauses(
        _ count: Int, _ serve: (SampleStreams.Opening, _ number: Int) async throws -> Void
    ) async throws -> [Duration] {
        // A timeout would sleep too.
        let app = FeathersApp(
            transport: .rest(URL(string: "http://sample.test/api")!, timeout: nil, httpClient: streams))
        let events = app.eventSource("notifications", as: String.self, clock: clock)
        let reader = Task { for try await _ in events {} }
        for number in 1...count { try await serve(streams.opening(number), number) }
        _ = try await streams.opening(count + 1)
        reader.cancel()
        _ = await reader.result
        return clock.sleeps
    }

    @Test(
        "is that of a FeathersJS 6 event stream where connections deliver nothing, whatever the server wants",
        arguments: ["retry: 0\n\n", ": hello\n\n", "id: 7\n\n", "retry: 0\ndata: cut"])
    func nothingDelivered(_ text: String) async throws {
        let pauses = try await pauses(8) { opening, _ in
            opening.accept()
            opening.send("retry: 0\n" + text)
            opening.end()
        }
        try #require(pauses.count == 8)
        #expect(pauses.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(5) })
        #expect(pauses[0] <= .seconds(1))
        #expect(pauses[4...].allSatisfy { $0 >= .milliseconds(2500) })
    }

    @Test("begins again with each connection that delivers an event")
    func delivered() async throws {
        let pauses = try await pauses(6) { opening, number in
            opening.accept()
            opening.send(number == 5 ? "retry: 0\n\n" : "retry: 0\ndata: a\n\n")
            opening.end()
        }
        try #require(pauses.count == 6)
        #expect(pauses.allSatisfy { $0 >= .milliseconds(500) })
        #expect(pauses[...3].allSatisfy { $0 <= .seconds(1) } && pauses[4] >= .seconds(1) && pauses[5] <= .seconds(1))
    }

    @Test("begins again with each connection that lasts")
    func lasting() async throws {
        let pauses = try await pauses(6) { opening, _ in
            let count = clock.count
            opening.accept()
            // The connection notes when it was opened.
            try await clock.waitForReadings(count + 1)
            clock.advance(by: .seconds(10))
            opening.send("retry: 0\n\n")
            opening.end()
        }
        try #require(pauses.count == 6)
        #expect(pauses.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(1) })
    }

    @Test("grows with refusals that may end")
    func refusals() async throws {
        let pauses = try await pauses(8) { opening, _ in opening.refuse(503) }
        try #require(pauses.count == 8)
        // Until a stream says otherwise, browsers wait for 3 seconds.
        #expect(pauses.allSatisfy { $0 >= .seconds(3) && $0 <= .seconds(5) })
    }

    @Test("is the server's where that is slower")
    func slower() async throws {
        let pauses = try await pauses(5) { opening, number in
            opening.accept()
            opening.send("retry: 60000\n\(number > 2 ? "data: a\n" : "")\n")
            opening.end()
        }
        #expect(pauses == Array(repeating: .seconds(60), count: 5))
    }
}

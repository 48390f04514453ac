import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import Testing

@testable import FeathersREST

@Suite("Streams whose connection is cut", .timeLimit(.minutes(10)))
struct StreamCutTests {
    private static let url = URL(string: "http://sample.test/api/")!
    private static let lost = HTTPClientError(.connectionLost, "The connection was lost")

    /// The frames one after the other, and where each of them ends.
    private static func body(_ frames: [String]) -> (bytes: [UInt8], ends: [Int]) {
        let bytes = frames.map { Array("data: \($0)\n\n".utf8) }
        return (Array(bytes.joined()), bytes.indices.map { bytes[...$0].joined().count })
    }

    private static func read(_ app: FeathersApp) async -> (numbers: [Int64?], error: (any Error)?) {
        var numbers: [Int64?] = []
        do {
            for try await item in app.service("tokens").stream(.find) { numbers.append(item["n"]?.integer) }
            return (numbers, nil)
        } catch {
            return (numbers, error)
        }
    }

    @Test("at any byte give the items that were complete, and throw")
    func results() async throws {
        let (body, ends) = Self.body((1...3).map { #"{"n":\#($0),"text":"é😀"}"# })
        for cut in 0...body.count {
            let streams = SampleStreams()
            let app = FeathersApp(transport: .feathers6(Self.url) { $0.httpClient = streams })
            async let reading = Self.read(app)
            let opening = try await streams.opening(1)
            opening.accept()
            opening.send(body[..<cut])
            opening.fail(Self.lost)
            let (numbers, error) = await reading
            #expect(numbers == Array([1, 2, 3].prefix(ends.count { $0 <= cut })), "cut at \(cut)")
            #expect((error as? FeathersError)?.code == .unavailable, "cut at \(cut)")
        }
    }

    @Test("at any byte deliver the events that were complete, then a gap")
    func events() async throws {
        let (body, ends) = Self.body((1...2).map { #"{"event":"created","data":\#($0),"path":"é😀"}"# })
        for cut in 0...body.count {
            let (streams, sink, clock) = (SampleStreams(), SampleSink(), ManualClock())
            let transport = Feathers6Transport.feathers6(Self.url) {
                ($0.httpClient, $0.clock) = (streams, clock)
                $0.reconnection = ReconnectionPolicy(initialDelay: .seconds(1), jitter: 0)
            }
            transport.deliver(to: sink.sink)
            async let running: Void = transport.run()
            let first = try await streams.opening(1)
            first.greet()
            first.send(body[..<cut])
            first.fail(Self.lost)
            for await status in transport.statusUpdates() { if case .waiting = status { break } }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            try await streams.opening(2).greet()
            let expected = ["é😀 created 1", "é😀 created 2"].prefix(ends.count { $0 <= cut }) + ["gap reconnected"]
            #expect(try await sink.lines(expected.count) == Array(expected), "cut at \(cut)")
            await transport.disconnect()
            try await running
        }
    }
}

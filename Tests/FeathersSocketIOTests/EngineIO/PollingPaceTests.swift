import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSocketIO

@Suite("The pace of polling", .timeLimit(.minutes(10)))
struct PollingPaceTests {
    @Test("slows down while answers come at once and carry no message", arguments: [EnginePacket.noop, .ping("")])
    func slows(packet: EnginePacket) {
        var pace = PollingPace()
        var rests: [Duration] = []
        for _ in 0..<7 { rests.append(pace.answered([packet, packet], after: .milliseconds(99))) }
        let expected: [Int] = [0, 100, 200, 400, 800, 1000, 1000]
        #expect(rests == expected.map { Duration.milliseconds($0) })
    }

    static let useful: [([EnginePacket], Duration)] = [
        ([.message("2[]")], .zero), ([.noop, .binary([1])], .zero), ([.noop], .milliseconds(100)),
        ([.ping("")], .seconds(25)),
    ]

    @Test("is the server's own again with the first message, and with an answer that took its time", arguments: useful)
    func recovers(packets: [EnginePacket], duration: Duration) {
        var pace = PollingPace()
        for _ in 0..<5 { _ = pace.answered([.noop], after: .zero) }
        #expect(pace.answered(packets, after: duration) == .zero)
        #expect(pace.answered([.noop], after: .zero) == .zero)
        #expect(pace.answered([.noop], after: .zero) == PollingPace.leastWait)
    }

    @Test("is kept by a connection, which follows messages at once")
    func connection() async throws {
        let network = ReplayNetwork()
        let scene = try Scene {
            $0.transports = [.polling]
            $0.httpClient = network
        }
        async let connecting: Void = scene.transport.connect()
        try await answer(
            network, #"0{"sid":"e","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#)
        _ = try await network.posted.next()
        try await answer(network, #"40{"sid":"s"}"#)
        try await connecting
        try await answer(network, "6")
        try await answer(network, "6")
        // The timer of the heartbeat, and the rest.
        try await scene.clock.waitForSleepers(2)
        #expect(network.polls.waiting.isEmpty)
        scene.clock.advance(by: .milliseconds(100))
        // The clock stands still: these would not be asked for otherwise.
        for number in 0..<5 { try await answer(network, #"42["m created",\#(number)]"#) }
        try await network.polls.peek()
        await scene.transport.disconnect()
        #expect(network.violations.isEmpty)
    }

    /// Answers the poll that waits, or the next one.
    private func answer(_ network: ReplayNetwork, _ body: String) async throws {
        let poll = try await network.polls.next()
        poll.answer.resolve(HTTPResponse(status: 200, body: Array(body.utf8), url: poll.url))
    }
}

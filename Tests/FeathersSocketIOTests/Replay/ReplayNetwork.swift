import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

@testable import FeathersSocketIO

/// The network of a replayed client: WebSockets and HTTP requests end at the replay.
final class ReplayNetwork: HTTPClient {
    struct Poll: Sendable {
        let url: URL
        let answer: Promise<HTTPResponse>
    }

    private struct State {
        var polls = 0
        var posts = 0
        var violations: [String] = []
    }

    let sockets = FakeWebSockets()
    /// The GETs that wait for packets.
    let polls = Mailbox<Poll>()
    /// What was posted, packet by packet.
    let posted = Mailbox<String>()
    private let state = Locked(State())

    /// What broke the rules of polling.
    var violations: [String] { state.withLock { $0.violations } }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        if request.method == "GET" {
            count(\.polls, 1)
            defer { count(\.polls, -1) }
            let poll = Poll(url: request.url, answer: Promise())
            polls.put(poll)
            return try await poll.answer.value()
        }
        count(\.posts, 1)
        defer { count(\.posts, -1) }
        let body = request.body ?? []
        let packets = body.split(separator: EnginePayload.separator, omittingEmptySubsequences: false)
        state.withLock { state in
            if request.headers["Content-Type"] != "text/plain;charset=UTF-8" { state.violations.append("content type") }
            if packets.count > 16 { state.violations.append("\(packets.count) packets in one body") }
            if body.count > 1_000_000, packets.count > 1 { state.violations.append("a body beyond maxPayload") }
        }
        // A server answers the poll that waits before it answers the close. Without a poll, the client would be gone
        // before it sends the recorded one.
        if packets.contains([UInt8(ascii: "1")]) { try await polls.peek() }
        for packet in packets { posted.put(String(decoding: packet, as: UTF8.self)) }
        return HTTPResponse(status: 200, body: Array("ok".utf8), url: request.url)
    }

    private func count(_ kind: any WritableKeyPath<State, Int> & Sendable, _ change: Int) {
        state.withLock { state in
            state[keyPath: kind] += change
            if state[keyPath: kind] > 1 { state.violations.append("two requests of one kind at once") }
        }
    }
}

import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Synchronization

@testable import FeathersSocketIO

/// One client of a recording, played by our transport.
final class ReplayClient: Sendable {
    struct PendingCall: Sendable {
        let result: Task<JSONValue, any Error>
        let id: Int

        /// How the call ends; it is cancelled with the task that waits for it.
        func end() async -> Result<JSONValue, any Error> {
            await withTaskCancellationHandler {
                await result.result
            } onCancel: {
                result.cancel()
            }
        }
    }

    let network = ReplayNetwork()
    let transport: SocketIOTransport
    let events = Mailbox<ServiceEvent>()
    let isPolling: Bool
    private let clock = ManualClock()
    private let running = Locked<Task<Void, Never>?>(nil)
    private let socket = Locked<FakeWebSocket?>(nil)
    private let pending = Locked<[Int: PendingCall]>([:])

    /// - Parameters:
    ///   - target: path and query of the first request.
    ///   - connect: the client's CONNECT packet, for its payload and namespace.
    init(target: String, headers: [(name: String, value: String)], connect: String, isPolling: Bool) throws {
        let pieces = target.split(separator: "?", maxSplits: 1).map(String.init)
        let query = (pieces.dropFirst().first ?? "").components(separatedBy: "EIO=4")[0]
        let extra = query.hasSuffix("&") ? "?" + query.dropLast() : ""
        guard let url = URL(string: "http://127.0.0.1:3030" + extra) else { throw SocketReplayFailure("No URL") }
        let packet = try? SocketPacketParser.parse(String(connect.dropFirst())).packet
        var auth = packet?.data?.object
        for key in ["pid", "offset"] { auth?[key] = nil }
        let own = headers.filter { Self.ownFields.contains($0.name.lowercased()) }
        self.isPolling = isPolling
        transport = .socketIO(url) { [network, auth, clock] in
            $0.path = pieces[0]
            $0.namespace = packet?.namespace ?? "/"
            $0.transports = isPolling ? [.polling] : [.webSocket]
            $0.webSocketConnector = network.sockets
            $0.httpClient = network
            // As the recorded client does; ours must be asked to.
            $0.recoversState = true
            $0.reconnection.initialDelay = .zero
            // Recorded heartbeats are short; a machine under load must not miss them.
            $0.clock = clock
            if let auth, !auth.isEmpty { $0.auth = { auth } }
            $0.headers = { Dictionary(own.map { ($0.name, $0.value) }) { first, _ in first } }
        }
        transport.deliver(
            to: EventSink { [events] in
                events.put($0)
            } onGap: { _ in
            })
        running.withLock { [transport] in $0 = Task { try? await transport.run() } }
    }

    /// Fields an application sets; all others are the HTTP client's.
    static let ownFields: Set<String> = ["authorization", "cookie", "x-custom"]

    /// The WebSocket that was opened last.
    func openedSocket() async throws -> FakeWebSocket {
        let opened = try await network.sockets.opened.next()
        socket.withLock { $0 = opened }
        return opened
    }

    /// Waits until the transport has understood that it is connected: a good-bye before that has no namespace to leave.
    func connected() async {
        for await status in transport.statusUpdates() { if case .connected = status { return } }
    }

    /// The next packet that was sent, in a body or over the WebSocket.
    func nextSent(posted: Bool) async throws -> String {
        if !posted, let socket = socket.withLock({ $0 }) { return try await socket.sent.next() }
        return try await network.posted.next()
    }

    func nextPosted() async throws -> String { try await network.posted.next() }

    var currentSocket: FakeWebSocket? { socket.withLock { $0 } }

    /// Begins the call a packet comes from.
    func begin(_ call: RecordedCall) {
        let id = transport.socketClient.nextID.load(ordering: .relaxed)
        let task = Task { [transport] in
            if let request = call.request { return try await transport.send(request).result }
            let request = ServiceRequest(path: "", method: .find, params: Params(timeout: .seconds(30)))
            return try await transport.socketClient.send(call.packet.data ?? .null, for: request).result
        }
        pending.withLock { $0[call.packet.id ?? -1] = PendingCall(result: task, id: id) }
    }

    /// Our id of a call, by the recording's.
    func ourID(of id: Int) -> Int? { pending.withLock { $0[id]?.id } }

    func takeCall(_ id: Int) -> PendingCall? { pending.withLock { $0.removeValue(forKey: id) } }

    /// Answers the poll that waits, or the next one.
    /// - Returns: what the poll asked for.
    @discardableResult
    func answerPoll(_ body: String, status: Int = 200) async throws -> URL {
        let poll = try await network.polls.next()
        // The recorded server waited for something to send; one that does not is polled more slowly.
        clock.advance(by: PollingPace.leastWait)
        poll.answer.resolve(HTTPResponse(status: status, body: Array(body.utf8), url: poll.url))
        return poll.url
    }

    /// Ends the client, whatever state it is in.
    func end() async {
        for call in pending.withLock({ Array($0.values) }) { call.result.cancel() }
        running.withLock { $0 }?.cancel()
        await running.withLock { $0 }?.value
    }
}

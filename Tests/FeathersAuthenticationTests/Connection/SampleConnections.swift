import Feathers
import FeathersCore
import FeathersSupport
import FeathersTesting

/// A real-time transport over a sample server, whose connections begin and end as the test says.
final class SampleConnections: RealTimeTransport {
    private struct State: Sendable {
        var setups: [ConnectionSetup] = []
        var isAccepted = false
        var isStanding = false
        /// Told when the server accepts a connection, which lets calls go that sign in or out.
        var accepted = Promise<Void>()
        /// Told when a connection stands, which lets all calls go.
        var opened = Promise<Void>()
    }

    let server: SampleServer
    /// Runs before a plugin's request is sent over a connection.
    let beforeSending = Locked<(@Sendable () async throws -> Void)?>(nil)
    private let state = Locked(State())

    init(_ server: SampleServer) {
        self.server = server
    }

    /// What went over the wire: the paths, in order.
    var wire: [String] { server.transport.requests.map(\.path) }

    /// Runs the body with a connection, and another one before the server accepts it.
    func connected(whileOpening: () async throws -> Void = {}, _ body: () async throws -> Void) async throws {
        let setups = state.withLock { $0.setups }
        let send: ConnectionSetup.Send = { [server, beforeSending] request in
            try await beforeSending.withLock { $0 }?()
            try request.checkSender()
            return try await server.transport.send(request)
        }
        _ = try await headers()
        try await whileOpening()
        let accepted = state.withLock { state in
            state.isAccepted = true
            return state.accepted
        }
        accepted.resolve(())
        for setup in setups { await setup.prepare(send) }
        let opened = state.withLock { state in
            state.isStanding = true
            return state.opened
        }
        opened.resolve(())
        defer {
            state.withLock { state in
                (state.isAccepted, state.isStanding) = (false, false)
                (state.accepted, state.opened) = (Promise(), Promise())
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for setup in setups { group.addTask { await setup.accompany(send) } }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// Calls wait for a connection.
    func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        let isSession = request.params.concernsConnection
        let opened = state.withLock { state in
            if isSession { return state.isAccepted ? nil : state.accepted }
            return state.isStanding ? nil : state.opened
        }
        try await opened?.value()
        return try await server.transport.send(request)
    }

    func reconnects(after reason: DisconnectReason) async -> Bool {
        for setup in state.withLock({ $0.setups }) where await setup.reconnects(reason) { return true }
        return false
    }

    func headers() async throws -> [String: String] {
        try await state.withLock { $0.setups }.first?.headers() ?? [:]
    }

    func use(connectionSetup setup: ConnectionSetup) { state.withLock { $0.setups.append(setup) } }
    func deliver(to sink: EventSink) {}
    func run() async throws { try await Promise<Void>().value() }
    func connect() async throws {}
    func disconnect() async {}
    var status: ConnectionStatus { state.withLock { $0.isStanding } ? .connected(recovered: false) : .offline }
    func statusUpdates() -> AsyncStream<ConnectionStatus> { AsyncStream { $0.finish() } }
}

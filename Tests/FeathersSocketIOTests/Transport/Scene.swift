import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import TestBackend

@testable import FeathersSocketIO

/// A transport whose server and clock are the test's.
final class Scene: Sendable {
    enum Delivery: Sendable, Hashable {
        case event(String, String, JSONValue)
        case gap
    }

    let sockets = FakeWebSockets()
    let clock = ManualClock()
    let deliveries = Mailbox<Delivery>()
    let diagnostics = Mailbox<SocketIODiagnostic.Kind>()
    let transport: SocketIOTransport
    private let executor = SettlingExecutor()

    init(_ configure: (inout SocketIOTransport.Options) -> Void = { _ in }) throws {
        guard let url = URL(string: "http://127.0.0.1:3030") else { throw CancellationError() }
        var options = SocketIOTransport.Options()
        options.transports = [.webSocket]
        options.webSocketConnector = sockets
        options.clock = clock
        options.onDiagnostic = { [diagnostics] in diagnostics.put($0.kind) }
        options.reconnection.jitter = 0
        configure(&options)
        transport = SocketIOTransport(url, options: options)
        transport.deliver(
            to: EventSink { [deliveries] event in
                deliveries.put(.event(event.path, event.name.rawValue, event.data))
            } onGap: { [deliveries] _ in
                deliveries.put(.gap)
            })
    }

    /// Runs a body while the transport runs and is connected.
    func connected<Result: Sendable>(
        maxPayload: Int = 1_000_000, _ body: @Sendable (Scene, FakeWebSocket) async throws -> Result
    ) async throws -> Result {
        async let connecting: Void = transport.connect()
        let socket = try await sockets.opened.next()
        try await socket.accept(maxPayload: maxPayload)
        try await connecting
        let result = try await body(self, socket)
        await transport.disconnect()
        return result
    }

    /// Starts a call and returns once it waits, for its answer or to be sent, or has ended.
    func start<Result: Sendable>(_ call: @escaping @Sendable () async throws -> Result) async -> Task<Result, any Error>
    {
        await executor.start(call)
    }

    /// Suspends until everything that was started waits or has ended.
    func settled() async { await executor.settle() }

    func get(_ id: ServiceID, _ params: Params = Params()) async throws -> JSONValue {
        try await transport.send(ServiceRequest(path: "m", method: .get, id: id, params: params)).result
    }

    /// The error a call ends with.
    func failure(_ call: () async throws -> JSONValue) async -> FeathersError? {
        do {
            _ = try await call()
            return nil
        } catch {
            return error as? FeathersError
        }
    }

    /// Suspends until the status is as told.
    func status(_ condition: (ConnectionStatus) -> Bool) async {
        for await status in transport.statusUpdates() where condition(status) { return }
    }
}

extension SocketIOTransport {
    /// How many calls wait to be sent or answered.
    var pendingCallCount: Int { load.waiting + load.unanswered }
}

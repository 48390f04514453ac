import FeathersCore
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

/// A way to the backend.
enum Way: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case webSocket, polling

    var testDescription: String { rawValue }

    var transports: [SocketIOTransport.EngineTransport] {
        switch self {
        case .webSocket: [.webSocket]
        case .polling: [.polling]
        }
    }
}

/// A connected transport, and what it delivered.
struct BackendConnection: Sendable {
    enum Delivery: Sendable, Hashable {
        case event(String, EventName, JSONValue)
        case gap
    }

    let transport: SocketIOTransport
    let deliveries = Mailbox<Delivery>()

    private init(_ url: URL, _ way: Way, _ configure: (inout SocketIOTransport.Options) -> Void) {
        transport = .socketIO(url) {
            $0.transports = way.transports
            if Environment.choosesURLSessionWebSockets { $0.webSocketConnector = URLSessionWebSocketConnector() }
            $0.reconnection.initialDelay = .milliseconds(20)
            // Other suites may have ten thousand calls to be answered first.
            $0.callTimeout = .seconds(60)
            configure(&$0)
        }
        transport.deliver(
            to: EventSink { [deliveries] in
                deliveries.put(.event($0.path, $0.name, $0.data))
            } onGap: { [deliveries] _ in
                deliveries.put(.gap)
            })
    }

    /// Connects, runs the body, and disconnects.
    static func with<Result: Sendable>(
        _ way: Way, on backend: TestBackend = .shared,
        _ configure: (inout SocketIOTransport.Options) -> Void = { _ in },
        _ body: @Sendable (BackendConnection) async throws -> Result
    ) async throws -> Result {
        try await with(way, at: try await backend.url(), configure, body)
    }

    /// The same with the backend at another address.
    static func with<Result: Sendable>(
        _ way: Way, at url: URL, _ configure: (inout SocketIOTransport.Options) -> Void,
        _ body: @Sendable (BackendConnection) async throws -> Result
    ) async throws -> Result {
        let connection = BackendConnection(url, way, configure)
        try await connection.transport.connect()
        do {
            let result = try await body(connection)
            await connection.transport.disconnect()
            return result
        } catch {
            await connection.transport.disconnect()
            throw error
        }
    }

    func call(
        _ path: String, _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil,
        query: Query<JSONValue> = Query(),
        timeout: Duration? = nil
    ) async throws -> JSONValue {
        try await transport.send(
            ServiceRequest(
                path: path, method: method, id: id, data: data, params: Params(query: query, timeout: timeout))
        ).result
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
}

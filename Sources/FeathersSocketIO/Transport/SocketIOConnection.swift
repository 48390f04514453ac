import FeathersCore
import FeathersNetworking
import FeathersSupport

/// One connection of a client, from the moment it opens to its end.
final class SocketIOConnection: Sendable {
    let engine: any EngineConnection
    let setups: [ConnectionSetup]
    /// Resolved when the namespace is joined, with whether the session was recovered. Fails with the connection.
    let joined = Promise<Bool>()
    let ended = Promise<Disconnection>()
    /// Used by the connection's thread only.
    let decoder: Locked<SocketPacketDecoder>

    init(_ engine: any EngineConnection, setups: [ConnectionSetup], limits: SocketPacketDecoder.Limits) {
        self.engine = engine
        self.setups = setups
        decoder = Locked(SocketPacketDecoder(limits: limits))
    }
}

/// How an attempt to connect, or a connection, ended.
struct Disconnection: Sendable {
    var reason: DisconnectReason
    var error: FeathersError
    /// Whether the server still listens and should be told.
    var saysGoodbye = false

    init(_ reason: DisconnectReason, saysGoodbye: Bool = false, error: FeathersError? = nil) {
        self.reason = reason
        self.saysGoodbye = saysGoodbye
        self.error = error ?? FeathersError(.unavailable, reason.explanation, execution: .neverSent)
    }
}

extension DisconnectReason {
    var explanation: String {
        switch self {
        case .serverDisconnect: "The server ended the connection"
        case .clientDisconnect: "The connection was ended on this side"
        case .pingTimeout: "The server was silent for longer than it promised"
        case .transportClose: "The connection was closed"
        case .transportError(let message): "The connection failed: \(message)"
        case .parseError(let message): "The server sent something other than Socket.IO: \(message)"
        case .refused(let message): "The server refused the connection: \(message)"
        case .attemptsExhausted: "No connection could be made in as many attempts as allowed"
        }
    }

    init(_ reason: EngineClosure.Reason) {
        self =
            switch reason {
            case .closed: .clientDisconnect
            case .lost: .transportClose
            case .failed(let message): .transportError(message)
            case .invalid(let message): .parseError(message)
            }
    }
}

import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

/// A connection of a client, from when it opens to when it ends.
final class SocketIOConnection: Sendable {
    let engine: any EngineConnection
    let setups: [ConnectionSetup]
    /// Resolves when the namespace is joined, with whether the session was recovered. Fails if the connection ends
    /// first.
    let joined = Promise<Bool>()
    let ended = Promise<Disconnection>()
    /// The decoder, and the packets that the current read has brought. Safe, because only the closures that ``engine``
    /// runs use them, which are called one at a time (``EngineConnection/run(_:taking:onReadEnd:onStart:onEnd:)``).
    nonisolated(unsafe) var decoder: SocketPacketDecoder
    nonisolated(unsafe) var received: [SocketPacket] = []
    /// Whether ``engine`` has reported its end.
    let isGone = Atomic(false)

    init(_ engine: any EngineConnection, setups: [ConnectionSetup], limits: SocketPacketDecoder.Limits) {
        self.engine = engine
        self.setups = setups
        decoder = SocketPacketDecoder(limits: limits)
    }
}

/// The end of a connection, or of an attempt to connect. A class, because the tasks of an idle connection would
/// otherwise reserve memory for several.
final class Disconnection: Sendable {
    let reason: DisconnectReason
    let error: FeathersError
    /// Whether the server is still listening, so that what was sent last is given time to arrive.
    let saysGoodbye: Bool
    /// Whether the next connection opens, because the user of this one has left.
    let isReplaced: Bool

    init(
        _ reason: DisconnectReason, saysGoodbye: Bool = false, isReplaced: Bool = false, error: FeathersError? = nil
    ) {
        self.reason = reason
        self.saysGoodbye = saysGoodbye
        self.isReplaced = isReplaced
        self.error = error ?? FeathersError(.unavailable, reason.refusalText, execution: .neverSent)
    }
}

extension DisconnectReason {
    var refusalText: String {
        switch self {
        case .serverDisconnect: "The server ended the connection"
        case .clientDisconnect: "The client ended the connection"
        case .pingTimeout: "The server did not send a heartbeat in time"
        case .transportClose: "The connection was closed"
        case .transportError(let message): "The connection failed: \(message)"
        case .parseError(let message): "The server sent something other than Socket.IO: \(message)"
        case .refused(let message): "The server refused the connection: \(message)"
        case .attemptsExhausted: "All allowed attempts to connect failed"
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

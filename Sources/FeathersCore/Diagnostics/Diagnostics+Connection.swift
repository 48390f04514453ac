extension Diagnostics {
    /// Reports how a connection has become.
    func report(_ status: ConnectionStatus) {
        switch status {
        case .offline: log(.info, .connection, "offline")
        case .connecting(let attempt): log(.debug, .connection, "connecting, attempt \(attempt)", [.attempt: .integer(attempt)])
        case .connected(let recovered):
            log(.info, .connection, recovered ? "connected, with all that was missed" : "connected", ["recovered": .bool(recovered)])
        case .waiting(let attempt, let delay):
            log(
                .notice, .connection, "not connected, next attempt in \(delay.wholeMilliseconds) ms",
                [.attempt: .integer(attempt), .duration: .duration(delay)])
        case .closed(let reason):
            log(
                .error, .connection, "closed for good: \(reason.wireName)\(reason.message.map { ": \($0)" } ?? "")",
                [.reason: .string(reason.wireName)])
        }
    }
}

extension DisconnectReason {
    /// The reason as Socket.IO's client names it.
    var wireName: String {
        switch self {
        case .serverDisconnect: "io server disconnect"
        case .clientDisconnect: "io client disconnect"
        case .pingTimeout: "ping timeout"
        case .transportClose: "transport close"
        case .transportError: "transport error"
        case .parseError: "parse error"
        case .refused: "connect_error"
        case .attemptsExhausted: "reconnect_failed"
        }
    }

    fileprivate var message: String? {
        switch self {
        case .transportError(let message), .parseError(let message), .refused(let message): message
        default: nil
        }
    }
}

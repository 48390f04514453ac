/// How a connection to a server is.
public enum ConnectionStatus: Sendable, Hashable {
    /// Nobody has asked for a connection yet, or it was ended on our side.
    case offline
    /// A connection is being opened; attempts count from 1 since the last one stood.
    case connecting(attempt: Int)
    /// The connection stands; `recovered` where the server has replayed all that was missed.
    case connected(recovered: Bool)
    /// The next attempt comes after a delay.
    case waiting(attempt: Int, delay: Duration)
    /// The connection ended and will not come back by itself.
    case closed(DisconnectReason)
}

/// Why a connection ended.
public enum DisconnectReason: Sendable, Hashable {
    /// The server ended it (Socket.IO's `io server disconnect`); FeathersJS does so when a token expires.
    case serverDisconnect
    /// This side ended it (`io client disconnect`).
    case clientDisconnect
    /// The server was silent for longer than it promised (`ping timeout`).
    case pingTimeout
    /// The connection was closed without a word (`transport close`).
    case transportClose
    /// The connection failed (`transport error`); the message says how.
    case transportError(String)
    /// What came was no Socket.IO (`parse error`).
    case parseError(String)
    /// The server refused the connection to its namespace (`connect_error`).
    case refused(String)
    /// As many attempts failed as the policy allows.
    case attemptsExhausted
}

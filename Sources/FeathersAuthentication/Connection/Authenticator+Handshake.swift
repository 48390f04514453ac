import FeathersCore
import FeathersSupport

/// The opening of connections, and their end.
extension Authenticator {
    /// The token in the headers a connection is opened with, where the options ask for it.
    func handshakeHeaders() async throws -> [String: String] {
        guard options.authenticatesHandshake else { return [:] }
        let (phase, leavesOut) = state.withLock { ($0.session.phase, $0.leavesOutHandshakeToken) }
        let token: String? =
            switch phase {
            case .signedIn(let signedIn): signedIn.token.result.accessToken
            case .signedOut(.none), .expired: nil
            case .signedOut(.untried), .authenticating: try await storage.read()?.accessToken
            }
        let isSent = !leavesOut && token != nil
        state.withLock { $0.sentHandshakeToken = isSent }
        guard isSent, let token else { return [:] }
        // One that no header may carry is told over the connection, where the server may judge it.
        guard (try? AccessToken.check(token, .badRequest)) != nil else { return [:] }
        return [options.header: headerValue(token)]
    }

    /// Whether to connect again after an end that the transport takes for final.
    func reconnects(after reason: DisconnectReason) -> Bool {
        let now = timebase.now
        switch reason {
        case .serverDisconnect:
            return state.withLock { state in
                let token = state.session.signedIn?.token
                let lead = token?.expiry.map { expiry in (token?.refreshMoment).map { expiry - $0 } ?? .zero } ?? .zero
                return state.session.isExpiry(at: now, lead: max(lead, Self.slack))
            }
        case .refused:
            // Only the token may be at fault. The next attempt goes without, and the server judges the token over the connection.
            return state.withLock { state in
                defer { state.leavesOutHandshakeToken = state.sentHandshakeToken }
                return state.sentHandshakeToken
            }
        default: return false
        }
    }

    /// How far the server's clock may be behind ours when it ends a connection with its token.
    private static let slack = Duration.seconds(2)
}

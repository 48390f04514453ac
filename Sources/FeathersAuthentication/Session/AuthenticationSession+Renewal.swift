import FeathersCore

/// Getting another token before, or after, the present one ends.
extension AuthenticationSession {
    /// How long nothing is tried again by itself after a failure that may pass.
    static let retryPause = Duration.seconds(1)

    mutating func renew(_ stage: Renewal.Stage, isUrgent: Bool) -> (id: Int, actions: [Action]) {
        let id = nextID()
        guard case .signedIn(var signedIn) = phase else { return (id, []) }
        signedIn.renewal = Renewal(id: id, stage: stage, isUrgent: isUrgent)
        phase = .signedIn(signedIn)
        return (id, [.open(id)])
    }

    /// Another token has come, and is stored.
    /// - Parameter isAnnounced: whether it came as the answer to a sign-in, so that the server knows the connection by it.
    mutating func refreshSucceeded(_ id: Int, _ token: IssuedToken, isAnnounced: Bool) -> [Action] {
        guard case .signedIn(var signedIn) = phase, var renewal = signedIn.renewal, renewal.id == id, renewal.stage == .fetching
        else {
            if isAnnounced { connectionAuthenticated(token) }
            return []
        }
        if isAnnounced { connectionAuthenticated(token) }
        (signedIn.token, signedIn.version, signedIn.retryMoment) = (token, nextID(), nil)
        // Only a connection that stands is told beside the calls; any other is told before it is used.
        let isDone = connection.stage != .standing || connection.token == token.result.accessToken
        (renewal.stage, renewal.isFresh) = (.announcing, true)
        signedIn.renewal = isDone ? nil : renewal
        phase = .signedIn(signedIn)
        return [.publish(state)] + (isDone ? [.settle(id, .signedIn(token.result))] : [])
    }

    /// No other token has come.
    /// - Parameter isRejection: whether the server has said no, rather than that nobody knows.
    mutating func refreshFailed(_ id: Int, isRejection: Bool, at now: Duration) -> [Action] {
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.id == id, renewal.stage == .fetching
        else { return [] }
        if isRejection { return expire() }
        signedIn.renewal = nil
        signedIn.retryMoment = now + Self.retryPause
        phase = .signedIn(signedIn)
        return [.settle(id, .postponed)]
    }

    /// The server does not take the token any more, and there is no other.
    mutating func expire() -> [Action] {
        let pending = pendingID
        phase = .expired
        connection.token = nil
        return [.removeTokens, .publish(.expired)] + (pending.map { [.settle($0, .failed)] } ?? [])
    }
}

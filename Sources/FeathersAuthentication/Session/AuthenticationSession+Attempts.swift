import FeathersCore

/// Signing in and out.
extension AuthenticationSession {
    /// The app has given credentials. What was under way gives way to them.
    mutating func signInRequested() -> (id: Int, actions: [Action]) {
        begin(.signIn)
    }

    /// The app has asked for a sign-in with the stored token.
    /// - Parameter force: whether that is done also where somebody is signed in already.
    /// - Returns: the work to wait for; nil where nothing has to be done.
    mutating func restoreRequested(force: Bool) -> (id: Int?, actions: [Action]) {
        switch phase {
        case .authenticating(let attempt): return (attempt.id, [])
        case .signedIn(let signedIn):
            // A refresh under way is not given up: the refresh token it uses may have been exchanged already.
            if let renewal = signedIn.renewal, force { return (renewal.id, []) }
            guard force else { return (nil, []) }
        case .signedOut, .expired: break
        }
        return begin(.restore)
    }

    mutating func begin(_ kind: Attempt.Kind) -> (id: Int, actions: [Action]) {
        let id = nextID()
        var actions: [Action] = [.open(id)]
        if let pending = pendingID { actions.append(.settle(pending, .superseded)) }
        if state != .authenticating { actions.append(.publish(.authenticating)) }
        phase = .authenticating(Attempt(id: id, kind: kind))
        return (id, actions)
    }

    /// The number of the shared work under way.
    var pendingID: Int? {
        switch phase {
        case .authenticating(let attempt): attempt.id
        case .signedIn(let signedIn): signedIn.renewal?.id
        case .signedOut, .expired: nil
        }
    }

    /// Whether the answer of this work still counts.
    func isCurrent(_ id: Int) -> Bool { pendingID == id }

    /// The server has answered a sign-in, and its tokens are stored.
    /// - Parameter isAnnounced: whether it was asked over the connection, which it knows by the token then.
    mutating func signInSucceeded(_ id: Int, _ token: IssuedToken, isAnnounced: Bool = true) -> [Action] {
        // Also where nobody waits for it any more.
        if isAnnounced { connectionAuthenticated(token) }
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        phase = .signedIn(SignedIn(token: token, version: nextID()))
        return [.publish(state), .settle(id, .signedIn(token.result))]
    }

    /// A sign-in has failed.
    /// - Parameter isRejection: whether the server has said no, rather than that nobody knows.
    mutating func signInFailed(_ id: Int, isRejection: Bool) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        phase = .signedOut(isRejection ? .none : .untried)
        return (isRejection ? [.removeTokens] : []) + [.publish(state), .settle(id, .failed)]
    }

    /// There was no token to sign in with.
    mutating func foundNothingStored(_ id: Int) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        phase = .signedOut(.none)
        return [.publish(state), .settle(id, .nothingStored)]
    }

    /// Everybody who waited for a piece of work has left, and nobody does it.
    mutating func workAbandoned(_ id: Int) -> [Action] {
        guard isCurrent(id) else { return [] }
        if case .signedIn(var signedIn) = phase {
            signedIn.renewal = nil
            phase = .signedIn(signedIn)
            return [.settle(id, .failed)]
        }
        phase = .signedOut(.untried)
        return [.publish(state), .settle(id, .failed)]
    }

    /// The app has logged out.
    mutating func loggedOut() -> [Action] {
        var actions: [Action] = [.removeTokens]
        if let pending = pendingID { actions.append(.settle(pending, .loggedOut)) }
        if state != .signedOut { actions.insert(.publish(.signedOut), at: 1) }
        phase = .signedOut(.none)
        // Whoever logs out tells the server.
        connection.token = nil
        return actions
    }
}

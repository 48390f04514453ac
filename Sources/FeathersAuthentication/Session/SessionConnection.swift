import FeathersCore

/// The session's view of the connection. The server remembers who signed in over it, and closes it when the token expires.
extension AuthenticationSession {
    struct Connection: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            case none
            /// The connection is being opened. The server may already have accepted it.
            case opening
            /// The server has accepted the connection. So far, only the session's own requests use it.
            case preparing
            /// Nothing remains to be done before calls use the connection.
            case standing
        }

        /// Distinguishes one connection from the next.
        var number = 0
        var stage = Stage.none
        /// The token with which the connection is signed in on the server; nil if there is none.
        var token: String?
        /// Whether signing in, or announcing the token, has failed for a temporary reason.
        var hasFailed = false
        /// Whether the present user's sign-in was never answered, so that the server may still execute it after that user has left.
        var isUnsettled = false
        /// Whether the server is being notified of a log-out, or may still sign the connection in as an unknown user.
        var isLeaving = false
        /// The expiry of the last token known to the server, which then closes the connection.
        var tokenEnd: End?
    }

    enum End: Sendable, Equatable {
        case at(Duration)
        case unknown
    }

    /// The number of the connection that responses currently arrive over; nil if there is none.
    var connectionNumber: Int? { connection.stage == .none ? nil : connection.number }

    /// Whether a request made now reaches the server without waiting for a connection.
    var isConnected: Bool { connection.stage == .preparing || connection.stage == .standing }

    /// Whether no user is signed in over the connection, according to the server.
    var connectionIsNoOnes: Bool { connection.token == nil && !connection.isLeaving && !mayChangeHands }

    /// Whether the server may still sign the connection in as a user who has left. FeathersJS executes requests concurrently, and checking a password
    /// takes longer than a log-out.
    var mayChangeHands: Bool {
        if let announcing, announcing != signedIn?.token.result.accessToken { return true }
        return requesting.keys.contains(where: isOfLeaver)
    }

    /// Whether pushed events are meant for the signed-in user, or for everyone if no user is signed in.
    var pushesAreOwn: Bool {
        guard isConnected else { return false }
        return switch phase {
        case .signedIn(let signedIn): connection.token == signedIn.token.result.accessToken && !mayChangeHands
        case .signedOut, .expired: connectionIsNoOnes
        case .authenticating: false
        }
    }

    /// Whether an open connection is signed in with another token, or with none.
    func isAnnouncementDue(_ signedIn: SignedIn) -> Bool {
        connection.stage == .standing && connection.token != signedIn.token.result.accessToken
    }
}

// MARK: - Events

extension AuthenticationSession {
    /// Records that the transport starts to open a connection. The session's requests may get responses before the connection is prepared.
    mutating func connectionOpening() {
        guard !isConnected else { return }
        let tokenEnd = connection.tokenEnd
        connection = Connection(number: connection.number + 1, stage: .opening, tokenEnd: tokenEnd)
    }

    /// Records that the server has accepted a connection.
    mutating func connectionOpened() {
        if connection.stage == .opening {
            if connection.token == nil { connection.tokenEnd = nil }
            connection.stage = .preparing
        } else {
            connection = Connection(number: connection.number + 1, stage: .preparing)
        }
    }

    /// Records that the server has accepted a connection whose handshake contained a token, and has signed it in. The user may have changed meanwhile.
    ///
    /// The signed-in user's token is still announced, because only the response contains the user. So is a stored one, when it is restored.
    mutating func handshakeAccepted(_ token: String) {
        guard connection.token == nil else { return }
        switch phase {
        case .signedOut(.untried), .authenticating: break
        case .signedIn(let signedIn) where signedIn.token.result.accessToken == token: break
        case .signedIn, .signedOut(.none), .expired: connection.token = token
        }
    }

    mutating func connectionPrepared() { connection.stage = .standing }

    mutating func connectionEnded() -> [Action] {
        (connection.stage, connection.token) = (.none, nil)
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.stage == .announcing else { return [] }
        // The token is announced over the next connection before calls use it.
        signedIn.renewal = nil
        phase = .signedIn(signedIn)
        return [.settle(renewal.id, .signedIn(signedIn.token.result))]
    }

    /// Records that the server has issued a token. The connection is signed in with it if the request was sent over this connection.
    mutating func connectionAuthenticated(_ token: IssuedToken) {
        guard let number = connectionNumber, token.connection == number else { return }
        connection.token = token.result.accessToken
        (connection.isLeaving, connection.isUnsettled) = (false, false)
        connection.tokenEnd = token.expiry.map(End.at) ?? .unknown
    }

    /// Records that the server may still accept a sign-in whose response will never arrive. Until the connection ends, calls without a user wait.
    mutating func connectionOwnerLost() {
        guard isConnected else { return }
        connection.isLeaving = true
    }

    /// Records the end of a log-out over a connection. If the server could not be notified for a token, it is notified again.
    mutating func departed(from number: Int?, untold: String?) {
        guard connection.isLeaving, connectionNumber == number else { return }
        connection.isLeaving = false
        if connection.token == nil { connection.token = untold }
    }

    /// Records that the server knows that the app is signed out.
    mutating func withdrawn(_ accessToken: String) {
        if connection.token == accessToken { connection.token = nil }
    }

    /// Records that the server has accepted a token for the connection. Its response usually contains the same token.
    mutating func announced(_ accessToken: String, _ answered: IssuedToken) -> [Action] {
        guard case .signedIn(var signedIn) = phase, signedIn.token.result.accessToken == accessToken else {
            connectionAuthenticated(answered)
            return []
        }
        let renewal = signedIn.renewal.flatMap { $0.stage == .announcing ? $0 : nil }
        let isNews = signedIn.token.result != answered.result
        var token = answered
        if answered.result.accessToken == accessToken {
            // For the same token, the expiry was most accurate when it was issued.
            (token.expiry, token.refreshMoment) = (signedIn.token.expiry, signedIn.token.refreshMoment)
            signedIn.token = token
        } else {
            replaceToken(of: &signedIn, with: token)
        }
        connectionAuthenticated(token)
        signedIn.retryMoment = nil
        if renewal != nil { signedIn.renewal = nil }
        phase = .signedIn(signedIn)
        return (isNews ? [.publish(state)] : []) + (renewal.map { [.settle($0.id, .signedIn(token.result))] } ?? [])
    }

    /// Records that the server has not accepted the token for the connection, because it refused the token or could not judge it.
    mutating func announcementFailed(_ accessToken: String, isRejection: Bool, at now: Duration) -> [Action] {
        guard case .signedIn(var signedIn) = phase, signedIn.token.result.accessToken == accessToken else { return [] }
        if isRejection {
            if !signedIn.token.canRefresh || signedIn.renewal?.isFresh == true { return expire() }
            if signedIn.retryMoment.map({ $0 <= now }) ?? true {
                guard let renewal = signedIn.renewal else { return renew(.fetching, isUrgent: true).actions }
                guard renewal.stage == .announcing else { return [] }
                // Calls that wait for the announcement wait for the refresh instead.
                signedIn.renewal = Renewal(id: renewal.id, stage: .fetching, isUrgent: true)
                phase = .signedIn(signedIn)
                return [.begin(renewal.id, .refresh(signedIn.token.result))]
            }
        }
        let renewal = signedIn.renewal.flatMap { $0.stage == .announcing ? $0 : nil }
        if renewal != nil { signedIn.renewal = nil }
        signedIn.retryMoment = now + Self.retryPause
        connection.hasFailed = true
        phase = .signedIn(signedIn)
        return renewal.map { [.settle($0.id, .failed)] } ?? []
    }
}

// MARK: - Steps

extension AuthenticationSession {
    /// The next task for a connection.
    enum Step: Sendable, Equatable {
        /// Wait for this attempt.
        case wait(for: Int)
        /// Announce the token to the server.
        case announce(AuthenticationResult)
        /// Notify the server that the app is signed out.
        case withdraw(token: String)
        /// Do nothing until the next event, or until this time at the latest.
        case rest(until: Duration?)
        /// Nothing remains to be done before calls may use the connection.
        case done
    }

    /// Returns the next step before calls may use the connection.
    mutating func preparationStep(at now: Duration) -> (step: Step, actions: [Action]) {
        switch phase {
        case .signedOut(.untried) where !connection.hasFailed: return wait(for: begin(.restore))
        case .signedOut, .expired:
            if let token = connection.token { return (.withdraw(token: token), []) }
            return (mayChangeHands ? .rest(until: nil) : .done, [])
        case .authenticating(let attempt): return (.wait(for: attempt.id), [])
        case .signedIn(let signedIn):
            if let renewal = signedIn.renewal, renewal.stage == .fetching { return (.wait(for: renewal.id), []) }
            if signedIn.renewal == nil, isRefreshDue(signedIn, at: { now }) { return wait(for: renew(.fetching, isUrgent: false)) }
            if connection.token == signedIn.token.result.accessToken { return (mayChangeHands ? .rest(until: nil) : .done, []) }
            // A temporary failure must not keep the connection from opening. The announcement is retried while calls use it.
            if connection.hasFailed { return (mayChangeHands ? .rest(until: nil) : .done, []) }
            return (.announce(signedIn.token.result), [])
        }
    }

    /// Returns the next step while calls use the connection.
    mutating func accompanimentStep(at now: Duration) -> (step: Step, actions: [Action]) {
        guard let signedIn else {
            // The response to an outdated sign-in has signed in the connection.
            guard state != .authenticating, let token = connection.token else { return (.rest(until: nil), []) }
            return (.withdraw(token: token), [])
        }
        if let renewal = signedIn.renewal {
            return (renewal.stage == .announcing ? .announce(signedIn.token.result) : .rest(until: nil), [])
        }
        if let retry = signedIn.retryMoment, now < retry { return (.rest(until: retry), []) }
        if isRefreshDue(signedIn, at: { now }) { return (.rest(until: nil), renew(.fetching, isUrgent: false).actions) }
        if isAnnouncementDue(signedIn) { return (.announce(signedIn.token.result), []) }
        return (.rest(until: signedIn.token.refreshMoment), [])
    }

    private func wait(for attempt: (id: Int, actions: [Action])) -> (Step, [Action]) { (.wait(for: attempt.id), attempt.actions) }

    /// Returns whether to attribute the end of a connection to an expired token, because FeathersJS closes connections at that time.
    /// An end up to `lead` before the token's expiry, by the local clock, counts as expiry.
    func isExpiry(at now: Duration, lead: Duration) -> Bool {
        switch connection.tokenEnd {
        case .at(let end): end - lead <= now
        case .unknown: signedIn?.token.canRefresh == true
        case nil: false
        }
    }
}

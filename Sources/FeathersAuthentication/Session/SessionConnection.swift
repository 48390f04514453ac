import FeathersCore

/// What the session knows of the connection, whose server remembers who signed in over it and ends it when the token does.
extension AuthenticationSession {
    struct Connection: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            case none
            /// It is being opened; the server may have accepted it already.
            case opening
            /// The server has accepted it; only the session's own requests use it yet.
            case preparing
            case standing
        }

        /// Tells one connection from the next.
        var number = 0
        var stage = Stage.none
        /// The token the server knows the connection by; nil if it knows none.
        var token: String?
        /// Whether signing in, or announcing the token, has failed for a reason that may pass.
        var hasFailed = false
        /// Whether the server is being told that the user has signed out.
        var isLeaving = false
        /// When the last token the server knew ends; the server ends the connection then.
        var tokenEnd: End?
    }

    enum End: Sendable, Equatable {
        case at(Duration)
        case unknown
    }

    /// The connection that answers come over now; nil if there is none.
    var connectionNumber: Int? { connection.stage == .none ? nil : connection.number }

    /// Whether a request made now reaches the server, rather than wait for a connection.
    var isConnected: Bool { connection.stage == .preparing || connection.stage == .standing }

    /// Whether the server takes the connection for no user's.
    var connectionIsNoOnes: Bool { connection.token == nil && !connection.isLeaving }

    /// Whether what the server pushes is meant for the user who is signed in, or for everyone where none is.
    var pushesAreOwn: Bool {
        guard isConnected else { return false }
        return switch phase {
        case .signedIn(let signedIn): connection.token == signedIn.token.result.accessToken
        case .signedOut, .expired: connectionIsNoOnes
        case .authenticating: false
        }
    }

    /// Whether a connection stands that the server knows by another token, or by none.
    func isAnnouncementDue(_ signedIn: SignedIn) -> Bool {
        connection.stage == .standing && connection.token != signedIn.token.result.accessToken
    }
}

// MARK: - Events

extension AuthenticationSession {
    /// The transport begins to open a connection. The session's requests may be answered before the connection is prepared.
    mutating func connectionOpening() {
        guard !isConnected else { return }
        let tokenEnd = connection.tokenEnd
        connection = Connection(number: connection.number + 1, stage: .opening, tokenEnd: tokenEnd)
    }

    /// The server has accepted a connection.
    mutating func connectionOpened() {
        if connection.stage == .opening {
            if connection.token == nil { connection.tokenEnd = nil }
            connection.stage = .preparing
        } else {
            connection = Connection(number: connection.number + 1, stage: .preparing)
        }
    }

    mutating func connectionPrepared() { connection.stage = .standing }

    mutating func connectionEnded() -> [Action] {
        (connection.stage, connection.token) = (.none, nil)
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.stage == .announcing else { return [] }
        // The next connection is told the token before it is used.
        signedIn.renewal = nil
        phase = .signedIn(signedIn)
        return [.settle(renewal.id, .signedIn(signedIn.token.result))]
    }

    /// The server has issued a token, and knows the connection by it if it was asked over this one.
    mutating func connectionAuthenticated(_ token: IssuedToken) {
        guard let number = connectionNumber, token.connection == number else { return }
        connection.token = token.result.accessToken
        connection.isLeaving = false
        connection.tokenEnd = token.expiry.map(End.at) ?? .unknown
    }

    /// The log-out over a connection has ended. A token whose log-out the server could not be told is told again.
    mutating func departed(from number: Int?, untold: String?) {
        guard connection.isLeaving, connectionNumber == number else { return }
        connection.isLeaving = false
        if connection.token == nil { connection.token = untold }
    }

    /// The server has been told that the app is signed out.
    mutating func withdrawn(_ accessToken: String) {
        if connection.token == accessToken { connection.token = nil }
    }

    /// The server has accepted a token for the connection, and has answered, most often with the same token.
    mutating func announced(_ accessToken: String, _ answered: IssuedToken) -> [Action] {
        guard case .signedIn(var signedIn) = phase, signedIn.token.result.accessToken == accessToken else {
            connectionAuthenticated(answered)
            return []
        }
        let renewal = signedIn.renewal.flatMap { $0.stage == .announcing ? $0 : nil }
        let isNews = signedIn.token.result != answered.result
        var token = answered
        if answered.result.accessToken == accessToken {
            // The same token: its end was known best when it was new.
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

    /// The server has not accepted the token for the connection: it has refused, or failed to judge.
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
    /// What a connection needs next.
    enum Step: Sendable, Equatable {
        /// It waits for this attempt.
        case wait(for: Int)
        /// The server is to be told the token.
        case announce(AuthenticationResult)
        /// The server is to be told that the app is signed out.
        case withdraw(token: String)
        /// Nothing, until something happens or, at the latest, this moment.
        case rest(until: Duration?)
        /// Nothing more before calls may use it.
        case done
    }

    /// The next step before calls may use the connection.
    mutating func preparationStep(at now: Duration) -> (step: Step, actions: [Action]) {
        switch phase {
        case .signedOut(.untried) where !connection.hasFailed: return wait(for: begin(.restore))
        case .signedOut, .expired: return (connection.token.map { .withdraw(token: $0) } ?? .done, [])
        case .authenticating(let attempt): return (.wait(for: attempt.id), [])
        case .signedIn(let signedIn):
            if let renewal = signedIn.renewal, renewal.stage == .fetching { return (.wait(for: renewal.id), []) }
            if signedIn.renewal == nil, isRefreshDue(signedIn, at: { now }) { return wait(for: renew(.fetching, isUrgent: false)) }
            if connection.token == signedIn.token.result.accessToken { return (.done, []) }
            // A failure that may pass must not keep the connection from standing: it is tried again beside the calls.
            if connection.hasFailed { return (.done, []) }
            return (.announce(signedIn.token.result), [])
        }
    }

    /// The next step beside the calls that use the connection.
    mutating func accompanimentStep(at now: Duration) -> (step: Step, actions: [Action]) {
        guard let signedIn else {
            // The answer to a sign-in that no longer counts has signed the connection in.
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

    /// Whether to take the server's end of a connection for the end of a token, as FeathersJS ends connections then.
    /// - Parameter lead: how long before a token's end, by our clock, an end still counts as its end.
    func isExpiry(at now: Duration, lead: Duration) -> Bool {
        switch connection.tokenEnd {
        case .at(let end): end - lead <= now
        case .unknown: signedIn?.token.canRefresh == true
        case nil: false
        }
    }
}

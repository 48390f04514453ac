import FeathersCore

/// The session's view of the connection. The server remembers who signed in over it, and closes it when the token
/// expires.
///
/// A connection belongs to no one until its first sign-in, then to that user until it ends.
extension AuthenticationSession {
    struct Connection: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            case none
            /// The connection is being opened. The server may already have accepted it.
            case opening
            /// The server has accepted the connection. So far, only the session's own requests use it.
            case preparing
            /// Nothing remains to be done before calls use the connection.
            case open
        }

        /// Distinguishes one connection from the next.
        var number = 0
        var stage = Stage.none
        /// The sign-in to whose user the connection belongs; nil while it belongs to no one.
        var signIn: Int?
        /// The token that the server has accepted over the connection; nil if there is none.
        var token: String?
        /// Whether signing in, or announcing the token, has failed for a temporary reason.
        var hasFailed = false
    }

    /// The number of the connection that responses currently arrive over; nil if there is none.
    var connectionNumber: Int? { connection.stage == .none ? nil : connection.number }

    /// Whether a request made now reaches the server without waiting for a connection.
    var isConnected: Bool {
        !connectionMustEnd && (connection.stage == .preparing || connection.stage == .open)
    }

    /// Whether the connection belongs to the user of an earlier sign-in, so that it ends before anything else is sent.
    var connectionMustEnd: Bool { connection.signIn.map { $0 != signIn } ?? false }

    /// Whether pushed events are for the present user, or for everyone if no user is signed in.
    ///
    /// While a user signs in with credentials, that is unknown. Such a sign-in ends with a gap.
    var deliversPushes: Bool {
        if case .authenticating(_, let work) = phase, work.hasCredentials { return false }
        return !connectionMustEnd
    }

    /// Whether an open connection is signed in with another token of the user, or with none.
    func isAnnouncementDue(_ signedIn: SignedIn) -> Bool {
        connection.stage == .open && !connectionMustEnd && isUnannounced(signedIn)
    }

    func isUnannounced(_ signedIn: SignedIn) -> Bool { connection.token != signedIn.token.result.accessToken }
}

// MARK: - Events

extension AuthenticationSession {
    /// Records that the transport starts to open a connection, and that the one before has ended.
    ///
    /// The session's requests may get responses before the connection is prepared.
    mutating func connectionOpening() {
        // The server may recover the session of the connection before, with its user.
        connection = Connection(
            number: connection.number + 1, stage: .opening, signIn: connectionMustEnd ? nil : connection.signIn)
    }

    /// Records that the connection being opened does not continue another one, and that nothing was sent over it.
    mutating func connectionIsNew() { if connection.stage == .opening { connection.signIn = nil } }

    /// Records that the server has accepted a connection.
    mutating func connectionOpened() {
        if connection.stage != .opening { connectionOpening() }
        connection.stage = .preparing
    }

    mutating func connectionPrepared() { connection.stage = .open }

    mutating func connectionEnded() -> [Action] {
        (connection.stage, connection.token) = (.none, nil)
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.isAnnouncement
        else { return [] }
        // The token is announced over the next connection before calls use it.
        signedIn.renewal = nil
        phase = .signedIn(signedIn)
        return [.settle(renewal.id, .signedIn(signedIn.token.result))]
    }

    /// Records that a request that signs in the connection is about to be sent.
    /// - Returns: The number of the request.
    mutating func signInRequestBegan() -> Int {
        let id = nextID()
        signInRequests.insert(id)
        return id
    }

    /// Records that a request has ended.
    /// - Parameter hasSignedIn: Whether the server has signed in the connection, or may have.
    mutating func signInRequestEnded(_ id: Int, hasSignedIn: Bool) {
        guard signInRequests.remove(id) != nil, hasSignedIn else { return }
        connection.signIn = connection.signIn ?? signIn
    }

    /// Records that the server has issued a token. The connection is signed in with it if the request was sent over
    /// this connection.
    mutating func connectionAuthenticated(_ token: IssuedToken) {
        guard let number = connectionNumber, token.connection == number else { return }
        connection.token = token.result.accessToken
    }
}

// MARK: - What a connection needs

extension AuthenticationSession {
    /// Returns what a connection does before calls may use it.
    mutating func needBeforeCalls(at now: Duration) -> Answer {
        if connectionMustEnd { return (.rest(until: nil), []) }
        switch phase {
        case .signedOut(.untried) where !connection.hasFailed: return wait(for: begin(.restore))
        case .signedOut, .expired: return (.send(nil), [])
        case .authenticating(let id, _): return (.wait(id), [])
        case .signedIn(let signedIn):
            if let renewal = signedIn.renewal { return (.wait(renewal.id), []) }
            // A temporary failure must not keep the connection from opening. Both are retried while calls use it.
            if connection.hasFailed { return (.send(signedIn), []) }
            if isRefreshDue(signedIn, at: { now }) { return wait(for: beginRefresh(isUrgent: false)) }
            return isUnannounced(signedIn) ? wait(for: announce(isUrgent: false)) : (.send(signedIn), [])
        }
    }

    /// Returns what a connection does while calls use it.
    mutating func needDuringCalls(at now: Duration) -> Answer {
        guard let signedIn, !connectionMustEnd, signedIn.renewal == nil else { return (.rest(until: nil), []) }
        if !signedIn.pace.permits(at: now) { return (.rest(until: signedIn.pace.moment), []) }
        if isRefreshDue(signedIn, at: { now }) { return wait(for: beginRefresh(isUrgent: false)) }
        if isAnnouncementDue(signedIn) { return wait(for: announce(isUrgent: false)) }
        return (.rest(until: signedIn.token.refreshMoment), [])
    }
}

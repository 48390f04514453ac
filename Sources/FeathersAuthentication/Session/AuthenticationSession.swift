import FeathersCore

/// The rules of an app's sign-in, without I/O: a state machine that receives events and returns actions.
///
/// Signing in and refreshing are attempts. Each attempt has a number, so that the response to an earlier attempt has no
/// effect.
struct AuthenticationSession: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case signedOut(StoredToken)
        /// The attempt with this number is in progress.
        case authenticating(Int, Work)
        case signedIn(SignedIn)
        case expired
    }

    /// What is known about the token storage while the app is signed out.
    enum StoredToken: Sendable, Equatable {
        /// A stored token may exist: it has not been tried yet, or the last try failed for a temporary reason.
        case untried
        case none
    }

    /// The work of an attempt.
    enum Work: Sendable, Equatable {
        /// Signs in with credentials from the app.
        case signIn(AuthenticationCredentials)
        /// Signs in with the stored token.
        case restore
        /// Gets another token for a sign-in.
        case refresh(AuthenticationResult)
        /// Announces the token of a sign-in over the open connection.
        case announce(AuthenticationResult)

        /// The name of the work for logs.
        var name: String {
            switch self {
            case .signIn: "sign-in"
            case .restore: "restoring the sign-in"
            case .refresh: "refresh"
            case .announce: "announcing the sign-in"
            }
        }

        var hasCredentials: Bool { if case .signIn = self { true } else { false } }

        /// Whether the work may fetch another token: a stored sign-in may have expired.
        var mayRefresh: Bool {
            switch self {
            case .restore, .refresh: true
            case .signIn, .announce: false
            }
        }
    }

    struct SignedIn: Sendable, Equatable {
        var token: IssuedToken
        /// Increases with each token. Tells whether the token of a call has been replaced.
        var version: Int
        /// The number of the sign-in; a refresh keeps it. See ``AuthenticationSession/signIn``.
        var signIn: Int
        /// A stable name of the user, without secrets; nil if the server provides none.
        var name: String?
        var renewal: Renewal?
        /// How soon the token is renewed again without a call that needs it.
        var pace = RenewalPace()
    }

    /// An attempt that refreshes the token, and announces it over the connection.
    struct Renewal: Sendable, Equatable {
        var id: Int
        /// Whether the token is being announced. Otherwise, another one is being fetched.
        var isAnnouncement: Bool
        /// Whether calls should wait, because the server no longer accepts the current token.
        var isUrgent: Bool
        /// Whether the token to announce has just been fetched.
        var isFresh = false
    }

    enum Action: Sendable, Equatable {
        /// Begins an attempt, or its next work.
        case begin(Int, Work)
        /// Reports the outcome of an attempt to its callers.
        case settle(Int, Outcome)
        case removeTokens
        /// Publishes a changed state to the app.
        case publish(AuthenticationState)
    }

    /// The outcome of an attempt.
    enum Outcome: Sendable, Equatable {
        case signedIn(AuthenticationResult)
        /// The storage contained no token.
        case nothingStored
        case failed
        /// A refresh failed for a temporary reason. The current token stays in use.
        case postponed
        /// A later sign-in replaced the attempt.
        case superseded
        case loggedOut
    }

    /// Whether the transport keeps a connection, whose server remembers who signed in over it.
    let keepsConnection: Bool
    var phase = Phase.signedOut(.untried)
    var connection = Connection()
    /// The requests in flight that may sign in the connection as the present user.
    var signInRequests: Set<Int> = []
    /// The number of the current sign-in, or of the current period without one.
    ///
    /// It changes when the app signs in with credentials and when that fails, when it logs out, when the sign-in ends,
    /// and when a restore or refresh results in another user. Requests made under one number must not be sent under
    /// another, and a connection that was signed in under one number ends with it.
    private(set) var signIn = 1
    /// The result that belongs to `signIn`, even while it is being restored.
    private var known: AuthenticationResult?
    private var lastID = 0

    init(keepsConnection: Bool) { self.keepsConnection = keepsConnection }

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// The state that the app sees.
    var state: AuthenticationState {
        switch phase {
        case .signedOut: .signedOut
        case .authenticating: .authenticating
        case .signedIn(let signedIn): .signedIn(signedIn.token.result)
        case .expired: .expired
        }
    }

    var signedIn: SignedIn? {
        if case .signedIn(let signedIn) = phase { signedIn } else { nil }
    }

    /// The number of the attempt in progress.
    var pendingID: Int? {
        switch phase {
        case .authenticating(let id, _): id
        case .signedIn(let signedIn): signedIn.renewal?.id
        case .signedOut, .expired: nil
        }
    }

    /// Returns whether the response to this attempt is still relevant.
    func isCurrent(_ id: Int) -> Bool { pendingID == id }
}

// MARK: - Signing in and out

extension AuthenticationSession {
    /// Begins a sign-in with credentials from the app. It replaces any attempt in progress.
    mutating func signInRequested(_ credentials: AuthenticationCredentials) -> (id: Int, actions: [Action]) {
        endSignIn()
        return begin(.signIn(credentials))
    }

    /// Begins a sign-in with the stored token at the app's request.
    /// - Parameter force: Whether to contact the server even if the app is signed in.
    /// - Returns: The attempt to wait for; nil if there is nothing to do.
    mutating func restoreRequested(force: Bool) -> (id: Int?, actions: [Action]) {
        switch phase {
        case .authenticating(let id, _): return (id, [])
        case .signedIn(let signedIn):
            // A refresh in progress continues, because its refresh token may already have been exchanged.
            if let renewal = signedIn.renewal, force { return (renewal.id, []) }
            guard force else { return (nil, []) }
        case .signedOut, .expired: break
        }
        return begin(.restore)
    }

    mutating func begin(_ work: Work) -> (id: Int, actions: [Action]) {
        let id = nextID()
        var actions: [Action] = [.begin(id, work)]
        if let pending = pendingID { actions.append(.settle(pending, .superseded)) }
        if state != .authenticating { actions.append(.publish(.authenticating)) }
        phase = .authenticating(id, work)
        return (id, actions)
    }

    /// Records that the server has accepted a sign-in and that its tokens are stored.
    mutating func signInSucceeded(_ id: Int, _ token: IssuedToken) -> [Action] {
        guard case .authenticating(id, _) = phase else { return [] }
        connectionAuthenticated(token)
        // Results without a user count as the same user's only if they have the same token.
        if let known, !(known.isSameUser(as: token.result) ?? (known.accessToken == token.result.accessToken)) {
            endSignIn()
        }
        known = token.result
        phase = .signedIn(SignedIn(token: token, version: nextID(), signIn: signIn, name: token.result.identityName))
        return [.publish(state), .settle(id, .signedIn(token.result))]
    }

    /// Records that a sign-in failed. `isRejection` tells whether the server refused it, instead of failing to judge
    /// it.
    mutating func signInFailed(_ id: Int, isRejection: Bool) -> [Action] {
        guard case .authenticating(id, let work) = phase else { return [] }
        if isRejection || work.hasCredentials { endSignIn() }
        // The connection opens without a sign-in, to avoid repeated attempts.
        if !isRejection, connection.stage == .preparing { connection.hasFailed = true }
        phase = .signedOut(isRejection ? .none : .untried)
        return (isRejection ? [.removeTokens] : []) + [.publish(state), .settle(id, .failed)]
    }

    /// Records that there was no token to sign in with.
    mutating func foundNothingStored(_ id: Int) -> [Action] {
        guard case .authenticating(id, _) = phase else { return [] }
        if known != nil { endSignIn() }
        phase = .signedOut(.none)
        return [.publish(state), .settle(id, .nothingStored)]
    }

    /// Ends a sign-in that no caller waits for anymore. A refresh continues, because its new tokens might be lost
    /// otherwise.
    mutating func attemptAbandoned(_ id: Int) -> [Action] { signInFailed(id, isRejection: false) }

    /// Logs out. The server is notified if a connection is open.
    mutating func loggedOut() -> [Action] {
        var actions: [Action] = [.removeTokens]
        if let pending = pendingID { actions.append(.settle(pending, .loggedOut)) }
        if state != .signedOut { actions.insert(.publish(.signedOut), at: 1) }
        endSignIn()
        phase = .signedOut(.none)
        return actions
    }

    /// Ends the sign-in because the server no longer accepts the token and there is no other.
    mutating func expire() -> [Action] {
        let pending = pendingID
        endSignIn()
        phase = .expired
        return [.removeTokens, .publish(.expired)] + (pending.map { [.settle($0, .failed)] } ?? [])
    }

    private mutating func endSignIn() {
        // A request in flight may still sign in the connection.
        if !signInRequests.isEmpty { connection.signIn = connection.signIn ?? signIn }
        signInRequests = []
        signIn += 1
        known = nil
    }

    /// Replaces the token of a sign-in. The response may show that the user is another one.
    mutating func replaceToken(of signedIn: inout SignedIn, with token: IssuedToken) {
        if signedIn.token.result.isSameUser(as: token.result) == false {
            endSignIn()
            (signedIn.signIn, signedIn.name) = (signIn, token.result.identityName)
        }
        known = token.result
        (signedIn.token, signedIn.version) = (token, nextID())
    }
}

extension AuthenticationResult {
    /// The user's stable name, without secrets: the token's `sub`, or else the user's id; nil if there is neither.
    var identityName: String? { payload?.subject ?? recordID }

    private var recordID: String? {
        let id = user?["id"] ?? user?["_id"]
        return id?.string ?? id?.integer.map(String.init)
    }

    /// Returns whether another result names the same user; nil if the two cannot be compared.
    fileprivate func isSameUser(as other: AuthenticationResult) -> Bool? {
        if let own = payload?.subject, let theirs = other.payload?.subject { return own == theirs }
        guard let own = recordID, let theirs = other.recordID else { return nil }
        return own == theirs
    }
}

extension Diagnostics {
    /// Reports the end of an attempt.
    func ended(_ work: AuthenticationSession.Work, _ result: Result<IssuedToken?, any Error>) {
        let error: (any Error)? = if case .failure(let error) = result { error } else { nil }
        let isRefresh = if case .refresh = work { true } else { false }
        let outcome = error.map { "failed: \(($0 as? FeathersError).map { "\($0)" } ?? "\(type(of: $0))")" } ?? "ended"
        log(
            .debug, .authentication, "\(work.name) \(outcome)", isRefresh ? ["refreshed": .bool(error == nil)] : [:],
            error: error)
    }
}

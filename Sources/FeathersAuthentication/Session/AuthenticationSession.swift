import FeathersCore

/// The rules of an app's sign-in, without I/O: a state machine that receives events and returns actions.
///
/// Signing in and refreshing are attempts. Each attempt has a number, so that the response to an earlier attempt has no effect.
struct AuthenticationSession: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case signedOut(StoredToken)
        case authenticating(Attempt)
        case signedIn(SignedIn)
        case expired
    }

    /// What is known about the token storage while the app is signed out.
    enum StoredToken: Sendable, Equatable {
        /// A stored token may exist: it has not been tried yet, or the last try failed for a temporary reason.
        case untried
        case none
    }

    /// A sign-in in progress.
    struct Attempt: Sendable, Equatable {
        var id: Int
        var work: Work
    }

    /// What an attempt does.
    enum Work: Sendable, Equatable {
        /// Signs in with credentials from the app.
        case signIn(AuthenticationCredentials)
        /// Signs in with the stored token.
        case restore
        /// Gets another token for a sign-in.
        case refresh(AuthenticationResult)
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
        /// After a temporary failure, the session retries nothing automatically before this time.
        var retryMoment: Duration?
    }

    /// A token that is being replaced, or announced over the connection.
    struct Renewal: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            /// Another token is being fetched.
            case fetching
            /// The token is being announced over the open connection.
            case announcing
        }

        var id: Int
        var stage: Stage
        /// Whether calls should wait, because the server no longer accepts the current token.
        var isUrgent: Bool
        /// Whether the token to announce has just been fetched.
        var isFresh = false
    }

    enum Action: Sendable, Equatable {
        /// Begins an attempt. Its work is nil if it only waits until the token has been announced over the connection.
        case begin(Int, Work?)
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
    /// The attempts whose requests to sign in may be in flight, and the sign-ins they belong to: 0 if they have credentials of their own.
    private(set) var requesting: [Int: Int] = [:]
    /// The token that is being announced over the connection.
    var announcing: String?
    /// The number of the current sign-in, or of the current period without one.
    ///
    /// It changes when the app signs in with credentials, when it logs out, when the sign-in ends, and when a restore or refresh results in another
    /// user. Requests made under one number must not be sent under another.
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

    /// The number of the attempt or announcement in progress.
    var pendingID: Int? {
        switch phase {
        case .authenticating(let attempt): attempt.id
        case .signedIn(let signedIn): signedIn.renewal?.id
        case .signedOut, .expired: nil
        }
    }

    /// Returns whether the response to this attempt is still relevant.
    func isCurrent(_ id: Int) -> Bool { pendingID == id }

    /// Records that an attempt is about to send a request to sign in.
    mutating func requestBegan(_ id: Int) {
        let isOfPresentUser =
            switch phase {
            case .authenticating(let attempt): attempt.id == id && attempt.work == .restore
            case .signedIn: isCurrent(id)
            case .signedOut, .expired: false
            }
        requesting[id] = isOfPresentUser ? signIn : 0
    }

    /// Records that no request of an attempt is in flight anymore.
    mutating func requestsEnded(_ id: Int) { requesting[id] = nil }

    /// Returns whether an attempt's request may sign the connection in as a user who has left.
    func isOfLeaver(_ id: Int) -> Bool { !isCurrent(id) && requesting[id].map { $0 != signIn } ?? false }
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
        case .authenticating(let attempt): return (attempt.id, [])
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
        phase = .authenticating(Attempt(id: id, work: work))
        return (id, actions)
    }

    /// Records that the server has accepted a sign-in and that its tokens are stored.
    mutating func signInSucceeded(_ id: Int, _ token: IssuedToken) -> [Action] {
        // The connection is now signed in, even if the response is too late for the attempt.
        connectionAuthenticated(token)
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        // Results without a user count as the same user's only if they have the same token.
        if let known, !(known.isSameUser(as: token.result) ?? (known.accessToken == token.result.accessToken)) { endSignIn() }
        known = token.result
        phase = .signedIn(SignedIn(token: token, version: nextID(), signIn: signIn, name: token.result.userName))
        return [.publish(state), .settle(id, .signedIn(token.result))]
    }

    /// Records that a sign-in failed. `isRejection` tells whether the server refused it, instead of failing to judge it.
    mutating func signInFailed(_ id: Int, isRejection: Bool) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        if isRejection { endSignIn() }
        // The connection opens without a sign-in, to avoid repeated attempts.
        if !isRejection, connection.stage == .preparing { connection.hasFailed = true }
        phase = .signedOut(isRejection ? .none : .untried)
        return (isRejection ? [.removeTokens] : []) + [.publish(state), .settle(id, .failed)]
    }

    /// Records that there was no token to sign in with.
    mutating func foundNothingStored(_ id: Int) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        if known != nil { endSignIn() }
        phase = .signedOut(.none)
        return [.publish(state), .settle(id, .nothingStored)]
    }

    /// Ends a sign-in that no caller waits for anymore. A refresh continues, because its new tokens might be lost otherwise.
    mutating func attemptAbandoned(_ id: Int) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        phase = .signedOut(.untried)
        return [.publish(state), .settle(id, .failed)]
    }

    /// Logs out. The server is notified if a connection is open.
    mutating func loggedOut() -> [Action] {
        var actions: [Action] = [.removeTokens]
        if let pending = pendingID { actions.append(.settle(pending, .loggedOut)) }
        if state != .signedOut { actions.insert(.publish(.signedOut), at: 1) }
        endSignIn()
        phase = .signedOut(.none)
        connection.isLeaving = isConnected
        connection.token = nil
        return actions
    }

    /// Ends the sign-in because the server no longer accepts the token and there is no other.
    mutating func expire() -> [Action] {
        let pending = pendingID
        endSignIn()
        phase = .expired
        connection.token = nil
        return [.removeTokens, .publish(.expired)] + (pending.map { [.settle($0, .failed)] } ?? [])
    }

    private mutating func endSignIn() {
        signIn += 1
        known = nil
    }
}

// MARK: - Calls

extension AuthenticationSession {
    /// What a call must do before it is sent.
    enum Passage: Sendable, Equatable {
        /// The call is sent with this sign-in; nil for none.
        case pass(SignedIn?)
        /// The call waits for this attempt.
        case wait(Int)
        /// The call waits until the server knows that the previous user has logged out, and has answered that user's sign-in. Otherwise, it would be
        /// executed as that user.
        case waitForDeparture
    }

    /// - Parameter travelsByHTTP: Whether the call is sent with the token, and not over the connection.
    mutating func callBegan(
        at now: @autoclosure () -> Duration, travelsByHTTP: Bool = false
    ) -> (passage: Passage, actions: [Action]) {
        switch phase {
        case .signedIn where connection.stage == .standing && mayChangeHands && !travelsByHTTP: return (.waitForDeparture, [])
        case .signedIn(let signedIn):
            if let renewal = signedIn.renewal {
                let waits = renewal.isUrgent || !keepsConnection || signedIn.token.expiry.map { $0 <= now() } == true
                return (waits ? .wait(renewal.id) : .pass(signedIn), [])
            }
            if isAnnouncementDue(signedIn) { return wait(for: renew(.announcing, isUrgent: true)) }
            // A connection refreshes its token independently of calls. Without a connection, only calls can.
            guard !keepsConnection, isRefreshDue(signedIn, at: now) else { return (.pass(signedIn), []) }
            return wait(for: renew(.fetching, isUrgent: true))
        case .signedOut(.none), .expired:
            return (connection.stage == .standing && !connectionIsNoOnes ? .waitForDeparture : .pass(nil), [])
        case .authenticating(let attempt): return (.wait(attempt.id), [])
        case .signedOut(.untried): return wait(for: begin(.restore))
        }
    }

    private func wait(for attempt: (id: Int, actions: [Action])) -> (Passage, [Action]) { (.wait(attempt.id), attempt.actions) }

    /// What a call must do after the server has responded with 401.
    enum Verdict: Sendable, Equatable {
        /// The call is sent again with the current token.
        case replay
        /// The call waits for this attempt and is sent again.
        case wait(Int)
        case fail
    }

    /// Handles a response with 401 to a call.
    /// - Parameter rejected: The sign-in with which the call was sent.
    mutating func tokenRejected(of rejected: SignedIn) -> (verdict: Verdict, actions: [Action]) {
        // A call is repeated only for the user who made it, so another sign-in's token does not count as a renewal.
        guard case .signedIn(var signedIn) = phase, signedIn.signIn == rejected.signIn else { return (.fail, []) }
        if let renewal = signedIn.renewal {
            signedIn.renewal?.isUrgent = true
            phase = .signedIn(signedIn)
            return (.wait(renewal.id), [])
        }
        if signedIn.version != rejected.version { return (.replay, []) }
        guard isAnnouncementDue(signedIn) || signedIn.token.canRefresh else { return (.fail, expire()) }
        let (id, actions) = renew(isAnnouncementDue(signedIn) ? .announcing : .fetching, isUrgent: true)
        return (.wait(id), actions)
    }
}

// MARK: - Renewal

extension AuthenticationSession {
    /// The pause before the first automatic retry after a temporary failure.
    static let retryPause = Duration.seconds(1)

    mutating func renew(_ stage: Renewal.Stage, isUrgent: Bool) -> (id: Int, actions: [Action]) {
        let id = nextID()
        guard case .signedIn(var signedIn) = phase else { return (id, []) }
        signedIn.renewal = Renewal(id: id, stage: stage, isUrgent: isUrgent)
        phase = .signedIn(signedIn)
        return (id, [.begin(id, stage == .fetching ? .refresh(signedIn.token.result) : nil)])
    }

    func isRefreshDue(_ signedIn: SignedIn, at now: () -> Duration) -> Bool {
        guard let moment = signedIn.token.refreshMoment else { return false }
        return max(moment, signedIn.retryMoment ?? moment) <= now()
    }

    /// Records that a new token has arrived and is stored.
    mutating func refreshSucceeded(_ id: Int, _ token: IssuedToken) -> [Action] {
        connectionAuthenticated(token)
        guard case .signedIn(var signedIn) = phase, var renewal = signedIn.renewal, renewal.id == id, renewal.stage == .fetching
        else { return [] }
        signedIn.retryMoment = nil
        replaceToken(of: &signedIn, with: token)
        // Only an open connection needs an announcement while calls use it. Any other connection is signed in before it is used.
        let isDone = connection.stage != .standing || connection.token == token.result.accessToken
        (renewal.stage, renewal.isFresh) = (.announcing, true)
        signedIn.renewal = isDone ? nil : renewal
        phase = .signedIn(signedIn)
        return [.publish(state)] + (isDone ? [.settle(id, .signedIn(token.result))] : [])
    }

    mutating func replaceToken(of signedIn: inout SignedIn, with token: IssuedToken) {
        if signedIn.token.result.isSameUser(as: token.result) == false {
            endSignIn()
            (signedIn.signIn, signedIn.name) = (signIn, token.result.userName)
        }
        known = token.result
        (signedIn.token, signedIn.version) = (token, nextID())
    }

    mutating func refreshFailed(_ id: Int, isRejection: Bool, at now: Duration) -> [Action] {
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.id == id, renewal.stage == .fetching
        else { return [] }
        if isRejection { return expire() }
        signedIn.renewal = nil
        signedIn.retryMoment = now + Self.retryPause
        phase = .signedIn(signedIn)
        return [.settle(id, .postponed)]
    }
}

extension AuthenticationResult {
    /// The user's stable name, without secrets: the token's `sub`, or else the user's id; nil if there is neither.
    var userName: String? { payload?.subject ?? userID }

    private var userID: String? {
        let id = user?["id"] ?? user?["_id"]
        return id?.string ?? id?.integer.map(String.init)
    }

    /// Returns whether another result names the same user; nil if the two cannot be compared.
    fileprivate func isSameUser(as other: AuthenticationResult) -> Bool? {
        if let own = payload?.subject, let theirs = other.payload?.subject { return own == theirs }
        guard let own = userID, let theirs = other.userID else { return nil }
        return own == theirs
    }
}

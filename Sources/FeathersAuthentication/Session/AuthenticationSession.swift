import FeathersCore

/// The rules of an app's sign-in, without input or output: events go in, actions come out.
///
/// Signing in and refreshing are attempts. Each has a number, so that the answer to an earlier attempt changes nothing.
struct AuthenticationSession: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case signedOut(StoredToken)
        case authenticating(Attempt)
        case signedIn(SignedIn)
        case expired
    }

    /// What is known about the token storage while the app is signed out.
    enum StoredToken: Sendable, Equatable {
        /// A stored token may exist: it was not tried yet, or trying it failed for a reason that may pass.
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
        /// Signs in with credentials the app has given.
        case signIn(AuthenticationCredentials)
        /// Signs in with the stored token.
        case restore
        /// Gets another token for a sign-in.
        case refresh(AuthenticationResult)
    }

    struct SignedIn: Sendable, Equatable {
        var token: IssuedToken
        /// Grows with each token. A call can tell whether the token it was sent with has been replaced.
        var version: Int
        /// The number of the sign-in; a refresh keeps it. See ``AuthenticationSession/signIn``.
        var signIn: Int
        /// A stable name of the user without secrets; nil if the server tells none.
        var name: String?
        var renewal: Renewal?
        /// After a failure that may pass, the session tries nothing by itself before this moment.
        var retryMoment: Duration?
    }

    /// A token on its way to being replaced, or to the connection.
    struct Renewal: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            /// Another token is being fetched.
            case fetching
            /// The connection in use is being told the token.
            case announcing
        }

        var id: Int
        var stage: Stage
        /// Whether calls should wait, because the server no longer accepts the present token.
        var isUrgent: Bool
        /// Whether the token to announce has just been fetched.
        var isFresh = false
    }

    enum Action: Sendable, Equatable {
        /// Begin an attempt. It has no work of its own if it waits until the connection has been told the token.
        case begin(Int, Work?)
        /// Tell everyone who waits for this attempt how it ended.
        case settle(Int, Outcome)
        case removeTokens
        /// The state that the app sees has changed.
        case publish(AuthenticationState)
    }

    /// How an attempt ended.
    enum Outcome: Sendable, Equatable {
        case signedIn(AuthenticationResult)
        /// The storage had no token.
        case nothingStored
        case failed
        /// A refresh failed for a reason that may pass. The present token stays in use.
        case postponed
        /// A later sign-in took its place.
        case superseded
        case loggedOut
    }

    /// Whether the transport keeps a connection, whose server remembers who signed in over it.
    let keepsConnection: Bool
    var phase = Phase.signedOut(.untried)
    var connection = Connection()
    /// The number of the present sign-in, or of the time without one.
    ///
    /// It changes when the app signs in with credentials, when it logs out, when the sign-in ends, and when another user comes back from a restore or
    /// a refresh. Whatever was asked under one number is not meant for the next.
    private(set) var signIn = 1
    /// The result that belongs to `signIn`, also while it is being restored.
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

    /// The number of the attempt in progress, or of the announcement.
    var pendingID: Int? {
        switch phase {
        case .authenticating(let attempt): attempt.id
        case .signedIn(let signedIn): signedIn.renewal?.id
        case .signedOut, .expired: nil
        }
    }

    /// Whether the answer to this attempt still counts.
    func isCurrent(_ id: Int) -> Bool { pendingID == id }
}

// MARK: - Signing in and out

extension AuthenticationSession {
    /// The app has given credentials. They take the place of any attempt in progress.
    mutating func signInRequested(_ credentials: AuthenticationCredentials) -> (id: Int, actions: [Action]) {
        endSignIn()
        return begin(.signIn(credentials))
    }

    /// The app has asked for a sign-in with the stored token.
    /// - Parameter force: whether to ask the server even if the app is signed in.
    /// - Returns: the attempt to wait for; nil if there is nothing to do.
    mutating func restoreRequested(force: Bool) -> (id: Int?, actions: [Action]) {
        switch phase {
        case .authenticating(let attempt): return (attempt.id, [])
        case .signedIn(let signedIn):
            // A refresh in progress goes on: its refresh token may have been exchanged already.
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

    /// The server has answered a sign-in, and its tokens are stored.
    mutating func signInSucceeded(_ id: Int, _ token: IssuedToken) -> [Action] {
        // Even if the answer is late, the connection is signed in now.
        connectionAuthenticated(token)
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        // Results that name no user count as the same user's only if they are the same sign-in.
        if let known, !(known.isSameUser(as: token.result) ?? (known.accessToken == token.result.accessToken)) { endSignIn() }
        known = token.result
        phase = .signedIn(SignedIn(token: token, version: nextID(), signIn: signIn, name: token.result.userName))
        return [.publish(state), .settle(id, .signedIn(token.result))]
    }

    /// - Parameter isRejection: whether the server has refused, rather than failed to judge.
    mutating func signInFailed(_ id: Int, isRejection: Bool) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        if isRejection { endSignIn() }
        // The connection stands without a sign-in rather than ask again and again.
        if !isRejection, connection.stage == .preparing { connection.hasFailed = true }
        phase = .signedOut(isRejection ? .none : .untried)
        return (isRejection ? [.removeTokens] : []) + [.publish(state), .settle(id, .failed)]
    }

    /// There was no token to sign in with.
    mutating func foundNothingStored(_ id: Int) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        if known != nil { endSignIn() }
        phase = .signedOut(.none)
        return [.publish(state), .settle(id, .nothingStored)]
    }

    /// Everyone who waited for an attempt has left. A refresh goes on all the same: what it fetches may be lost otherwise.
    mutating func attemptAbandoned(_ id: Int) -> [Action] {
        guard case .authenticating(let attempt) = phase, attempt.id == id else { return [] }
        phase = .signedOut(.untried)
        return [.publish(state), .settle(id, .failed)]
    }

    /// The app has logged out, and tells the server if a connection stands.
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

    /// The server no longer accepts the token, and there is no other.
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
    /// What a call does before it is sent.
    enum Passage: Sendable, Equatable {
        /// It is sent with this sign-in; nil for none.
        case pass(SignedIn?)
        /// It waits for this attempt.
        case wait(Int)
        /// It waits until the server knows that the user before has signed out. It would be answered in that user's name.
        case waitForDeparture
    }

    mutating func callBegan(at now: @autoclosure () -> Duration) -> (passage: Passage, actions: [Action]) {
        switch phase {
        case .signedIn(let signedIn):
            if let renewal = signedIn.renewal {
                let waits = renewal.isUrgent || !keepsConnection || signedIn.token.expiry.map { $0 <= now() } == true
                return (waits ? .wait(renewal.id) : .pass(signedIn), [])
            }
            if isAnnouncementDue(signedIn) { return wait(for: renew(.announcing, isUrgent: true)) }
            // A connection refreshes beside the calls. Without one, only calls can.
            guard !keepsConnection, isRefreshDue(signedIn, at: now) else { return (.pass(signedIn), []) }
            return wait(for: renew(.fetching, isUrgent: true))
        case .signedOut(.none), .expired:
            return (connection.stage == .standing && !connectionIsNoOnes ? .waitForDeparture : .pass(nil), [])
        case .authenticating(let attempt): return (.wait(attempt.id), [])
        case .signedOut(.untried): return wait(for: begin(.restore))
        }
    }

    private func wait(for attempt: (id: Int, actions: [Action])) -> (Passage, [Action]) { (.wait(attempt.id), attempt.actions) }

    /// What a call does after the server has answered it with 401.
    enum Verdict: Sendable, Equatable {
        /// It is sent again with the present token.
        case replay
        /// It waits for this attempt and is sent again.
        case wait(Int)
        case fail
    }

    /// The server has answered a call with 401.
    /// - Parameter rejected: the sign-in the call was sent with.
    mutating func tokenRejected(of rejected: SignedIn) -> (verdict: Verdict, actions: [Action]) {
        // Another sign-in's token is no renewal: a call is repeated only for the user who made it.
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
    /// How long nothing is tried again by itself after a failure that may pass.
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

    /// Another token has come, and is stored.
    mutating func refreshSucceeded(_ id: Int, _ token: IssuedToken) -> [Action] {
        connectionAuthenticated(token)
        guard case .signedIn(var signedIn) = phase, var renewal = signedIn.renewal, renewal.id == id, renewal.stage == .fetching
        else { return [] }
        signedIn.retryMoment = nil
        replaceToken(of: &signedIn, with: token)
        // Only a connection in use is told beside the calls. Any other is told before it is used.
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
    /// The user's stable name, without secrets: the token's `sub`, else the user's id; nil if the server tells neither.
    var userName: String? { payload?.subject ?? userID }

    private var userID: String? {
        let id = user?["id"] ?? user?["_id"]
        return id?.string ?? id?.integer.map(String.init)
    }

    /// Whether another result names the same user; nil if the two cannot be compared.
    fileprivate func isSameUser(as other: AuthenticationResult) -> Bool? {
        if let own = payload?.subject, let theirs = other.payload?.subject { return own == theirs }
        guard let own = userID, let theirs = other.userID else { return nil }
        return own == theirs
    }
}

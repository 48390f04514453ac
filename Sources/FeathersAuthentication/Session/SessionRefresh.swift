import FeathersCore

// What calls do before they are sent and after they were refused, and how tokens are refreshed.
extension AuthenticationSession {
    /// What a call does next.
    enum Permission: Sendable, Equatable {
        /// The call is sent with this sign-in; nil for none.
        case send(SignedIn?)
        /// The call waits for this attempt, and asks again.
        case wait(Int)
        /// The server's refusal is final.
        case fail
    }

    /// Decides about a call that was not sent yet.
    mutating func callBegan(at now: @autoclosure () -> Duration) -> (permission: Permission, actions: [Action]) {
        switch phase {
        case .signedIn(let signedIn):
            if let refresh = signedIn.refresh {
                let waits =
                    refresh.isUrgent || !keepsConnection || signedIn.token.expiry.map { $0 <= now() } == true
                return (waits ? .wait(refresh.id) : .send(signedIn), [])
            }
            if isAnnouncementDue(signedIn) { return wait(for: beginRefresh(isAnnouncement: true, isUrgent: true)) }
            // A connection refreshes its token independently of calls. Without a connection, only calls can.
            guard !keepsConnection, isRefreshDue(signedIn, at: now) else { return (.send(signedIn), []) }
            return wait(for: beginRefresh(isUrgent: true))
        case .signedOut(.none), .expired: return (.send(nil), [])
        case .authenticating(let id, _): return (.wait(id), [])
        case .signedOut(.untried): return wait(for: begin(.restore))
        }
    }

    private func wait(for attempt: (id: Int, actions: [Action])) -> (Permission, [Action]) {
        (.wait(attempt.id), attempt.actions)
    }

    /// Handles a response with 401 to a call, which is then sent again, waits, or fails.
    /// - Parameter rejected: The sign-in with which the call was sent.
    mutating func tokenRejected(of rejected: SignedIn) -> (permission: Permission, actions: [Action]) {
        // A call is repeated only for the user who made it, so another sign-in's token does not count as a new one.
        guard case .signedIn(var signedIn) = phase, signedIn.signIn == rejected.signIn else { return (.fail, []) }
        if let refresh = signedIn.refresh {
            signedIn.refresh?.isUrgent = true
            phase = .signedIn(signedIn)
            return (.wait(refresh.id), [])
        }
        if signedIn.version != rejected.version { return (.send(signedIn), []) }
        let isAnnouncement = isAnnouncementDue(signedIn)
        guard isAnnouncement || signedIn.token.canRefresh else { return (.fail, expire()) }
        return wait(for: beginRefresh(isAnnouncement: isAnnouncement, isUrgent: true))
    }

    /// The pause before the first automatic retry after a temporary failure.
    static let retryPause = Duration.seconds(1)

    mutating func beginRefresh(isAnnouncement: Bool = false, isUrgent: Bool) -> (id: Int, actions: [Action]) {
        let id = nextID()
        guard case .signedIn(var signedIn) = phase else { return (id, []) }
        signedIn.refresh = Refresh(id: id, isAnnouncement: isAnnouncement, isUrgent: isUrgent)
        phase = .signedIn(signedIn)
        return (id, [.begin(id, isAnnouncement ? nil : .refresh(signedIn.token.result))])
    }

    func isRefreshDue(_ signedIn: SignedIn, at now: () -> Duration) -> Bool {
        guard let moment = signedIn.token.refreshMoment else { return false }
        return max(moment, signedIn.retryMoment ?? moment) <= now()
    }

    /// Records that a new token has arrived and is stored.
    mutating func refreshSucceeded(_ id: Int, _ token: IssuedToken) -> [Action] {
        guard case .signedIn(var signedIn) = phase, var refresh = signedIn.refresh, refresh.id == id,
            !refresh.isAnnouncement
        else { return [] }
        connectionAuthenticated(token)
        signedIn.retryMoment = nil
        replaceToken(of: &signedIn, with: token)
        // Only an open connection needs an announcement while calls use it. Any other connection is signed in before it
        // is used.
        let isDone = !isAnnouncementDue(signedIn)
        (refresh.isAnnouncement, refresh.isFresh) = (true, true)
        signedIn.refresh = isDone ? nil : refresh
        phase = .signedIn(signedIn)
        return [.publish(state)] + (isDone ? [.settle(id, .signedIn(token.result))] : [])
    }

    mutating func refreshFailed(_ id: Int, isRejection: Bool, at now: Duration) -> [Action] {
        guard case .signedIn(var signedIn) = phase, let refresh = signedIn.refresh, refresh.id == id,
            !refresh.isAnnouncement
        else { return [] }
        if isRejection { return expire() }
        signedIn.refresh = nil
        signedIn.retryMoment = now + Self.retryPause
        phase = .signedIn(signedIn)
        return [.settle(id, .postponed)]
    }
}

import FeathersCore

// What calls and connections do next, and how tokens are renewed: refreshed, and announced over a connection.
extension AuthenticationSession {
    /// What a call, or a connection, does next.
    enum Permission: Sendable, Equatable {
        /// It proceeds with this sign-in; nil for none.
        case send(SignedIn?)
        /// It waits for this attempt, and asks again.
        case wait(Int)
        /// It waits for the next event, or until this time at the latest, and asks again.
        case rest(until: Duration?)
        /// The server's refusal is final.
        case fail
    }

    /// What to do next, and what to do for it.
    typealias Answer = (permission: Permission, actions: [Action])

    /// Decides about a call that was not sent yet.
    /// - Parameter hasRenewed: Whether the call has waited for a renewal of the token. It waits for one at most.
    mutating func callBegan(at now: @autoclosure () -> Duration, hasRenewed: Bool = false) -> Answer {
        switch phase {
        case .signedIn(let signedIn):
            if hasRenewed { return (.send(signedIn), []) }
            if let renewal = signedIn.renewal {
                let waits = renewal.isUrgent || !keepsConnection || signedIn.token.hasExpired(at: now)
                return (waits ? .wait(renewal.id) : .send(signedIn), [])
            }
            if isAnnouncementDue(signedIn) { return wait(for: announce(isUrgent: true)) }
            // A connection refreshes its token independently of calls. Without a connection, only calls can.
            guard !keepsConnection, isRefreshDue(signedIn, at: now) else { return (.send(signedIn), []) }
            return wait(for: beginRefresh(isUrgent: true))
        case .signedOut(.none), .expired: return (.send(nil), [])
        case .authenticating(let id, _): return (.wait(id), [])
        case .signedOut(.untried): return wait(for: begin(.restore))
        }
    }

    func wait(for attempt: (id: Int, actions: [Action])) -> Answer { (.wait(attempt.id), attempt.actions) }

    /// Handles a response with 401 to a call, which is then sent again, waits, or fails.
    /// - Parameters:
    ///   - rejected: The sign-in with which the call was sent.
    ///   - insists: Whether to refresh even if that has just failed.
    mutating func tokenRejected(of rejected: SignedIn, at now: Duration, insists: Bool = false) -> Answer {
        // A call is repeated only for the user who made it, so another sign-in's token does not count as a new one.
        guard case .signedIn(var signedIn) = phase, signedIn.signIn == rejected.signIn else { return (.fail, []) }
        if let renewal = signedIn.renewal {
            signedIn.renewal?.isUrgent = true
            phase = .signedIn(signedIn)
            return (.wait(renewal.id), [])
        }
        if signedIn.version != rejected.version { return (.send(signedIn), []) }
        if isAnnouncementDue(signedIn) { return wait(for: announce(isUrgent: true)) }
        guard signedIn.token.canRefresh else { return (.fail, expire()) }
        return insists || signedIn.pace.permitsRetry(at: now) ? wait(for: beginRefresh(isUrgent: true)) : (.fail, [])
    }

    /// Begins to fetch another token.
    mutating func beginRefresh(isUrgent: Bool) -> (id: Int, actions: [Action]) {
        renew(isAnnouncement: false, isUrgent: isUrgent)
    }

    /// Begins to announce the token over the connection.
    mutating func announce(isUrgent: Bool) -> (id: Int, actions: [Action]) {
        renew(isAnnouncement: true, isUrgent: isUrgent)
    }

    private mutating func renew(isAnnouncement: Bool, isUrgent: Bool) -> (id: Int, actions: [Action]) {
        let id = nextID()
        guard case .signedIn(var signedIn) = phase else { return (id, []) }
        signedIn.renewal = Renewal(id: id, isAnnouncement: isAnnouncement, isUrgent: isUrgent)
        phase = .signedIn(signedIn)
        return (id, [.begin(id, signedIn.work(isAnnouncement: isAnnouncement))])
    }

    /// Returns whether a token is to be refreshed without a refusal. Until the pace permits that, the token is used,
    /// even if it has expired: the server decides, and a refusal is a reason to refresh it.
    func isRefreshDue(_ signedIn: SignedIn, at now: () -> Duration) -> Bool {
        guard let moment = signedIn.token.refreshMoment else { return false }
        let now = now()
        return moment <= now && signedIn.pace.permits(at: now)
    }

    /// Records that a new token has arrived and is stored, or that the server has accepted the token for the
    /// connection. The response to an announcement usually contains the same token.
    /// - Parameter random: A random number from 0 to 1, for the pace.
    mutating func renewed(_ id: Int, _ issued: IssuedToken, at now: Duration, random: Double) -> [Action] {
        guard case .signedIn(var signedIn) = phase, var renewal = signedIn.renewal, renewal.id == id else { return [] }
        let before = signedIn.token
        if renewal.isAnnouncement, issued.result.accessToken == before.result.accessToken {
            signedIn.token = issued
            // For the same token, the expiry was most accurate when it was issued.
            (signedIn.token.expiry, signedIn.token.refreshMoment) = (before.expiry, before.refreshMoment)
        } else {
            replaceToken(of: &signedIn, with: issued)
        }
        connectionAuthenticated(issued)
        if !renewal.isAnnouncement { signedIn.pace.renewed(at: now, random) }
        let needsAnnouncement = !renewal.isAnnouncement && isConnected && isUnannounced(signedIn)
        (renewal.isAnnouncement, renewal.isFresh) = (true, true)
        signedIn.renewal = needsAnnouncement ? renewal : nil
        phase = .signedIn(signedIn)
        let news: [Action] = signedIn.token.result == before.result ? [] : [.publish(state)]
        // Callers go on when the connection knows the new token.
        if needsAnnouncement { return news + [.begin(id, signedIn.work(isAnnouncement: true))] }
        return news + [.settle(id, .signedIn(signedIn.token.result))]
    }

    /// Records that a token could not be refreshed, or not be announced.
    /// - Parameters:
    ///   - isRejection: Whether the server has refused.
    ///   - isLost: Whether the connection was lost. The token is announced again over the next one.
    ///   - random: A random number from 0 to 1, for the pace.
    mutating func renewalFailed(
        _ id: Int, isRejection: Bool, isLost: Bool = false, at now: Duration, random: Double
    ) -> [Action] {
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.id == id else { return [] }
        if isRejection, !renewal.isAnnouncement || renewal.isFresh || !signedIn.token.canRefresh { return expire() }
        if isRejection, signedIn.pace.permitsRetry(at: now) {
            // Callers that wait for the announcement wait for a new token instead.
            signedIn.renewal = Renewal(id: id, isAnnouncement: false, isUrgent: true)
            phase = .signedIn(signedIn)
            return [.begin(id, signedIn.work(isAnnouncement: false))]
        }
        signedIn.renewal = nil
        signedIn.pace.failed(at: now, random)
        // A connection opens without it, to avoid repeated attempts.
        if renewal.isAnnouncement || connection.stage == .preparing { connection.hasFailed = true }
        phase = .signedIn(signedIn)
        return [.settle(id, renewal.isAnnouncement && !isLost ? .failed : .postponed)]
    }
}

/// The pace at which a token is renewed because it is due: that of reconnection.
///
/// A server that issues tokens that are due at once, or that cannot be reached, is asked no more often than that. A
/// refusal is a reason of its own, unless the last refresh has failed.
struct RenewalPace: Sendable, Equatable {
    private var backoff = Backoff(policy: ReconnectionPolicy())
    private var hasFailed = false
    /// The time before which nothing is due; nil if nothing was renewed yet.
    private(set) var moment: Duration?

    func permits(at now: Duration) -> Bool { moment.map { $0 <= now } ?? true }

    func permitsRetry(at now: Duration) -> Bool { !hasFailed || permits(at: now) }

    mutating func renewed(at now: Duration, _ random: Double) {
        failed(at: now, random)
        hasFailed = false
        backoff.connected(now: now)
    }

    mutating func failed(at now: Duration, _ random: Double) {
        guard case .wait(_, let delay) = backoff.ended(.transportClose, now: now, random: random) else { return }
        (moment, hasFailed) = (now + delay, true)
    }
}

extension IssuedToken {
    /// Whether the token has expired by the local clock; false if its expiry is unknown.
    func hasExpired(at now: () -> Duration) -> Bool { expiry.map { $0 <= now() } ?? false }
}

extension AuthenticationSession.SignedIn {
    fileprivate func work(isAnnouncement: Bool) -> AuthenticationSession.Work {
        isAnnouncement ? .announce(token.result) : .refresh(token.result)
    }
}

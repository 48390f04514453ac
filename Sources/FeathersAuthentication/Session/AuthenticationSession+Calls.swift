import FeathersCore

/// Calls at the gate.
extension AuthenticationSession {
    /// What becomes of a call that wants to go out.
    enum Passage: Sendable, Equatable {
        /// It goes out as who is signed in; nil for nobody.
        case pass(SignedIn?)
        /// It waits for this work.
        case wait(Int)
    }

    mutating func callBegan(at now: @autoclosure () -> Duration) -> (passage: Passage, actions: [Action]) {
        switch phase {
        case .signedIn(let signedIn):
            if let renewal = signedIn.renewal {
                let waits = renewal.isUrgent || !keepsConnection || signedIn.token.expiry.map { $0 <= now() } == true
                return (waits ? .wait(renewal.id) : .pass(signedIn), [])
            }
            if isAnnouncementDue(signedIn) { return began(renew(.announcing, isUrgent: true)) }
            // A connection refreshes beside the calls; without one, the calls are all there is.
            guard !keepsConnection, isRefreshDue(signedIn, at: now) else { return (.pass(signedIn), []) }
            return began(renew(.fetching, isUrgent: true))
        case .signedOut(.none), .expired: return (.pass(nil), [])
        case .authenticating(let attempt): return (.wait(attempt.id), [])
        case .signedOut(.untried):
            let (id, actions) = begin(.restore)
            return (.wait(id), actions)
        }
    }

    /// What becomes of a call that the server has not taken for authenticated.
    enum Verdict: Sendable, Equatable {
        /// It is sent again with the token of now.
        case replay
        /// It waits for this work and is sent again then.
        case wait(Int)
        /// It fails.
        case fail
    }

    /// The server has answered a call with 401.
    /// - Parameter version: the token's that the call went out with.
    mutating func tokenRejected(version: Int) -> (verdict: Verdict, actions: [Action]) {
        guard let signedIn else { return (.fail, []) }
        if let renewal = signedIn.renewal { return (.wait(renewal.id), makeUrgent()) }
        if signedIn.version != version { return (.replay, []) }
        if isAnnouncementDue(signedIn) { return verdict(renew(.announcing, isUrgent: true)) }
        if signedIn.token.canRefresh { return verdict(renew(.fetching, isUrgent: true)) }
        return (.fail, expire())
    }

    /// Whether a connection stands that the server knows by another token, or by none.
    func isAnnouncementDue(_ signedIn: SignedIn) -> Bool {
        connection.stage == .standing && connection.token != signedIn.token.result.accessToken
    }

    func isRefreshDue(_ signedIn: SignedIn, at now: () -> Duration) -> Bool {
        guard let moment = signedIn.token.refreshMoment else { return false }
        return max(moment, signedIn.retryMoment ?? moment) <= now()
    }

    private func began(_ renewal: (id: Int, actions: [Action])) -> (Passage, [Action]) { (.wait(renewal.id), renewal.actions) }

    private func verdict(_ renewal: (id: Int, actions: [Action])) -> (Verdict, [Action]) { (.wait(renewal.id), renewal.actions) }

    private mutating func makeUrgent() -> [Action] {
        guard case .signedIn(var signedIn) = phase else { return [] }
        signedIn.renewal?.isUrgent = true
        phase = .signedIn(signedIn)
        return []
    }
}

import FeathersCore

/// The connection, whose server remembers who signed in over it and ends it when the token does.
extension AuthenticationSession {
    /// What a connection needs next.
    enum Step: Sendable, Equatable {
        /// This work is to be done over it, whoever is about it.
        case perform(Int)
        /// The server is to be told the token.
        case announce(AuthenticationResult)
        /// The server is to be told that nobody is signed in.
        case withdraw(token: String)
        /// Nothing, until something happens or, at the latest, this moment.
        case wait(until: Duration?)
        /// Nothing more before calls may use it.
        case done
    }

    /// The server has accepted a connection; it knows of nobody yet.
    mutating func connectionOpened() {
        connection = Connection(stage: .preparing)
    }

    mutating func connectionPrepared() {
        connection.stage = .standing
    }

    mutating func connectionEnded() -> [Action] {
        (connection.stage, connection.token) = (.none, nil)
        guard case .signedIn(var signedIn) = phase, let renewal = signedIn.renewal, renewal.stage == .announcing else { return [] }
        // The next connection is told the token before it is used.
        signedIn.renewal = nil
        phase = .signedIn(signedIn)
        return [.settle(renewal.id, .signedIn(signedIn.token.result))]
    }

    mutating func connectionAuthenticated(_ token: IssuedToken) {
        guard connection.stage != .none else { return }
        connection.token = token.result.accessToken
        connection.tokenEnd = token.expiry.map(End.at) ?? .unknown
    }

    /// The next step before calls may use the connection.
    mutating func preparationStep(at now: Duration) -> (step: Step, actions: [Action]) {
        switch phase {
        case .signedOut(.none), .expired: return (.done, [])
        case .signedOut(.untried):
            let (id, actions) = begin(.restore)
            return (.perform(id), actions)
        case .authenticating(let attempt): return (.perform(attempt.id), [])
        case .signedIn(let signedIn):
            if signedIn.renewal?.stage == .fetching, let id = pendingID { return (.perform(id), []) }
            if signedIn.renewal == nil, isRefreshDue(signedIn, at: { now }) {
                let (id, actions) = renew(.fetching, isUrgent: false)
                return (.perform(id), actions)
            }
            if connection.token == signedIn.token.result.accessToken { return (.done, []) }
            // A failure that may pass must not keep the connection from standing: it is tried again beside the calls.
            if connection.hasFailed { return (.done, []) }
            return (.announce(signedIn.token.result), [])
        }
    }

    /// The next step beside the calls that use the connection.
    mutating func accompanimentStep(at now: Duration) -> (step: Step, actions: [Action]) {
        guard let signedIn else {
            // A sign-in answered too late has made the server think that somebody is there.
            guard phase == .signedOut(.none) || phase == .expired, let token = connection.token else { return (.wait(until: nil), []) }
            return (.withdraw(token: token), [])
        }
        if let renewal = signedIn.renewal {
            return (renewal.stage == .announcing ? .announce(signedIn.token.result) : .perform(renewal.id), [])
        }
        if let retry = signedIn.retryMoment, now < retry { return (.wait(until: retry), []) }
        if isRefreshDue(signedIn, at: { now }) {
            let (id, actions) = renew(.fetching, isUrgent: false)
            return (.perform(id), actions)
        }
        if isAnnouncementDue(signedIn) { return (.announce(signedIn.token.result), []) }
        return (.wait(until: signedIn.token.refreshMoment), [])
    }

    /// The server has been told that nobody is signed in.
    mutating func withdrawn(_ accessToken: String) {
        if connection.token == accessToken { connection.token = nil }
    }

    /// The server has taken a token for the connection's.
    /// - Parameters:
    ///   - accessToken: the token it was told.
    ///   - answered: what it answered, most often with the same token.
    mutating func announced(_ accessToken: String, _ answered: IssuedToken) -> [Action] {
        guard case .signedIn(var signedIn) = phase, signedIn.token.result.accessToken == accessToken else {
            connectionAuthenticated(answered)
            return []
        }
        let renewal = signedIn.renewal.flatMap { $0.stage == .announcing ? $0 : nil }
        let isNews = signedIn.token.result != answered.result
        var token = answered
        if answered.result.accessToken == accessToken {
            // The same token: when it ends was best known when it was new.
            (token.expiry, token.refreshMoment) = (signedIn.token.expiry, signedIn.token.refreshMoment)
        } else {
            signedIn.version = nextID()
        }
        connectionAuthenticated(token)
        (signedIn.token, signedIn.retryMoment) = (token, nil)
        if renewal != nil { signedIn.renewal = nil }
        phase = .signedIn(signedIn)
        return (isNews ? [.publish(state)] : []) + (renewal.map { [.settle($0.id, .signedIn(token.result))] } ?? [])
    }

    /// The server has not taken the token for the connection's.
    /// - Parameter isRejection: whether it has said no, rather than that nobody knows.
    mutating func announcementFailed(_ accessToken: String, isRejection: Bool, at now: Duration) -> [Action] {
        guard case .signedIn(var signedIn) = phase, signedIn.token.result.accessToken == accessToken else { return [] }
        if isRejection {
            if !signedIn.token.canRefresh || signedIn.renewal?.isFresh == true { return expire() }
            if signedIn.retryMoment.map({ $0 <= now }) ?? true {
                guard let renewal = signedIn.renewal else { return renew(.fetching, isUrgent: true).actions }
                // Whoever waits for the announcement waits for the refresh instead.
                if renewal.stage == .announcing { signedIn.renewal = Renewal(id: renewal.id, stage: .fetching, isUrgent: true) }
                phase = .signedIn(signedIn)
                return []
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

extension AuthenticationSession {
    /// Whether the server's end of a connection is to be taken for the end of a token, as FeathersJS ends connections then.
    /// - Parameter lead: how long before a token's end, by our clock, an end still counts as its end.
    func isExpiry(at now: Duration, lead: Duration) -> Bool {
        switch connection.tokenEnd {
        case .at(let end): end - lead <= now
        case .unknown: signedIn?.token.canRefresh == true
        case nil: false
        }
    }
}

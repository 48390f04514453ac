import FeathersCore
import FeathersSupport

/// One try at a sign-in or a refresh: the requests it takes, in their order.
struct Performance: Sendable {
    typealias Send = ConnectionSetup.Send

    let authenticator: Authenticator
    let id: Int
    let number: Int

    private var options: AuthenticationOptions { authenticator.options }

    /// Signs in with credentials.
    /// - Parameter known: the tokens of before, whose refresh token stays where the answer brings none.
    func signIn(_ credentials: AuthenticationCredentials, known: AuthenticationTokens? = nil, _ send: Send) async throws -> IssuedToken {
        let asked = SignInMoment(now: authenticator.timebase.now, date: options.date())
        let request = ServiceRequest(path: options.path, method: .create, data: .object(credentials.data))
        var result = try AuthenticationResult(try await send(request))
        if result.refreshToken == nil, let refreshToken = known?.refreshToken {
            result = try result.with(AuthenticationTokens(accessToken: result.accessToken, refreshToken: refreshToken))
        }
        return authenticator.issued(result, asked, isNew: result.accessToken != known?.accessToken)
    }

    /// Signs in with the stored token, and with another where that one has ended and can be refreshed.
    func restore(_ send: Send) async throws -> Authenticator.Performed {
        guard let stored = try await authenticator.storage.read() else { return .nothingStored }
        try AccessToken.check(stored.accessToken, .notAuthenticated)
        do {
            return .token(try await signIn(stored, send), isAnnounced: true)
        } catch FeathersError.Code.notAuthenticated where options.refresh.canRefresh(stored) {
            guard case .token(let token, let isAnnounced) = try await refresh(try AuthenticationResult(stored), send) else {
                return .nothingStored
            }
            if isAnnounced { return .token(token, isAnnounced: true) }
            // A refresh tells of tokens; only a sign-in tells of the user, and tells the connection.
            let decision = authenticator.state.withLock { $0.session.isCurrent(id) ? authenticator.storage.decide() : nil }
            if let decision { try? await authenticator.storage.store(token.result.tokens, decision: decision) }
            return .token(try await signIn(token.result.tokens, send), isAnnounced: true)
        }
    }

    private func signIn(_ tokens: AuthenticationTokens, _ send: Send) async throws -> IssuedToken {
        try await signIn(.jwt(tokens.accessToken, strategy: options.jwtStrategy), known: tokens, send)
    }

    /// Gets another token.
    func refresh(_ present: AuthenticationResult, _ send: Send) async throws -> Authenticator.Performed {
        let asked = SignInMoment(now: authenticator.timebase.now, date: options.date())
        switch options.refresh.kind {
        case .none: throw FeathersError(.notAuthenticated, "The sign-in has ended, and there is no way to refresh it")
        case .service(let path, let field, let fields):
            guard let refreshToken = present.refreshToken else {
                throw FeathersError(.notAuthenticated, "The sign-in has ended, and brought no refresh token")
            }
            var data = fields
            data[field] = .string(refreshToken)
            let answer = try await send(ServiceRequest(path: path, method: .create, data: .object(data)))
            return .token(authenticator.issued(try present.merging(answer), asked, isNew: true), isAnnounced: false)
        case .function(let function):
            switch try await ask(function, present) {
            case .tokens(var tokens):
                tokens.refreshToken = tokens.refreshToken ?? present.refreshToken
                return .token(authenticator.issued(try present.with(tokens), asked, isNew: true), isAnnounced: false)
            case .credentials(let credentials):
                authenticator.state.withLock { state in
                    // From here on somebody with a connection at hand may go on with the credentials.
                    if state.session.signedIn?.renewal?.id == id { state.credentials[id] = credentials }
                }
                return .token(try await signIn(credentials, send), isAnnounced: true)
            }
        }
    }

    /// Asks the app's function, which is not interrupted: the refresh token it uses may be exchanged by then.
    private func ask(
        _ function: @escaping @Sendable (AuthenticationResult) async throws -> TokenRefresh.Answer, _ present: AuthenticationResult
    ) async throws -> TokenRefresh.Answer {
        authenticator.setInterruptible(id, number, false)
        defer { authenticator.setInterruptible(id, number, true) }
        let limit = options.refreshTimeout
        return try await authenticator.timebase.run(
            atMost: limit, orThrow: FeathersError(.timeout, "The refresh function took longer than \(limit)", execution: .mayHaveExecuted)
        ) {
            try await function(present)
        }
    }
}

extension Authenticator {
    func setInterruptible(_ id: Int, _ number: Int, _ isInterruptible: Bool) {
        let change = state.withLock { state in
            state.work.setInterruptible(id, number, isInterruptible)
            defer { state.change = Promise() }
            return state.change
        }
        change.resolve(())
    }

    /// A result with what follows from its token.
    func issued(_ result: AuthenticationResult, _ asked: SignInMoment, isNew: Bool) -> IssuedToken {
        let expiry = TokenExpiry.moment(of: result.payload, askedFor: asked, isNew: isNew)
        let canRefresh = options.refresh.canRefresh(result.tokens)
        let refreshMoment = expiry.flatMap { expiry in canRefresh ? expiry - lead(of: result, until: expiry, from: asked.now) : nil }
        return IssuedToken(result: result, expiry: expiry, refreshMoment: refreshMoment, canRefresh: canRefresh)
    }

    func lead(of result: AuthenticationResult, until expiry: Duration, from now: Duration) -> Duration {
        options.refreshLead ?? TokenExpiry.lead(of: result.payload, remaining: expiry - now)
    }
}

extension AuthenticationResult {
    /// The result with what a refresh service answered in place of what it had.
    fileprivate func merging(_ answer: JSONValue) throws(FeathersError) -> AuthenticationResult {
        guard let answered = answer.object, answered["accessToken"]?.string?.isEmpty == false else {
            throw FeathersError(.generalError, "The answer of the refresh service has no 'accessToken'")
        }
        var value = value
        for (key, part) in answered { value[key] = part }
        return try AuthenticationResult(value)
    }
}

import FeathersCore
import FeathersSupport

/// The requests that a sign-in or a refresh makes, in order.
struct SignInRequests: Sendable {
    /// A server's response, and the number of the connection it arrived over; nil if it used another transport.
    typealias Answer = (value: JSONValue, connection: Int?)
    typealias Send = @Sendable (ServiceRequest) async throws -> Answer

    let options: AuthenticationOptions
    let storage: StoredTokens
    let timebase: RelativeClock
    /// Reserves a number for storing tokens before the attempt has ended; nil if the attempt is no longer current.
    let decide: @Sendable () -> Int?
    /// Lets the attempt continue without callers, because the tokens that it fetches might be lost otherwise.
    let keep: @Sendable () -> Void
    let send: Send

    /// - Returns: The token, nil if none was stored; or the reason for a failure.
    func perform(_ work: AuthenticationSession.Work) async -> Result<IssuedToken?, any Error> {
        do {
            switch work {
            case .signIn(let credentials): return .success(try await signIn(credentials))
            case .restore: return .success(try await restore())
            case .refresh(let present): return .success(try await refreshUnlessNewer(present))
            case .announce(let present): return .success(try await signIn(with: present.tokens))
            }
        } catch {
            return .failure(error)
        }
    }

    /// Signs in with credentials.
    /// The refresh token of `known`, the current tokens, is kept if the response contains none.
    func signIn(_ credentials: AuthenticationCredentials, known: AuthenticationTokens? = nil) async throws
        -> IssuedToken
    {
        let asked = SignInMoment(now: timebase.now, date: options.date())
        let request = ServiceRequest(path: options.path, method: .create, data: .object(credentials.data))
        let answer = try await send(request)
        var result = try AuthenticationResult(answer.value)
        if result.refreshToken == nil, let refreshToken = known?.refreshToken {
            result = try AuthenticationResult(
                AuthenticationTokens(accessToken: result.accessToken, refreshToken: refreshToken),
                replacingThoseOf: result.value)
        }
        return issued(result, asked, isNew: result.accessToken != known?.accessToken, over: answer.connection)
    }

    func signIn(with tokens: AuthenticationTokens) async throws -> IssuedToken {
        try await signIn(.jwt(tokens.accessToken, strategy: options.jwtStrategy), known: tokens)
    }

    private func restore() async throws -> IssuedToken? {
        guard let stored = try await storage.read() else { return nil }
        return try await restore(stored)
    }

    /// Signs in with stored tokens. If the server refuses them, continues with tokens that another process has stored.
    private func restore(_ tokens: AuthenticationTokens) async throws -> IssuedToken {
        var stored = tokens
        // Limited, because a server could refuse every token that two processes obtain from it in turn.
        for _ in 1..<5 {
            do { return try await signInOrRefresh(stored) } catch  where error.isRejection {
                guard let newer = await storage.readNewer() else { throw error }
                stored = newer
            }
        }
        return try await signInOrRefresh(stored)
    }

    /// Signs in with an access token, or with a refreshed one if it has expired and can be refreshed.
    private func signInOrRefresh(_ stored: AuthenticationTokens) async throws -> IssuedToken {
        try AccessToken.check(stored.accessToken, .notAuthenticated)
        do {
            return try await signIn(with: stored)
        } catch FeathersError.Code.notAuthenticated where options.refresh.canRefresh(stored) {
            keep()
            let (token, isSignIn) = try await refresh(try AuthenticationResult(stored))
            if isSignIn { return token }
            // A refresh returns only tokens. A sign-in also returns the user, and signs in the connection.
            if let decision = decide() {
                try? await storage.store(
                    token.result.tokens, of: token.result.storedUser, decision: decision, isSignIn: false)
            }
            return try await signIn(with: token.result.tokens)
        }
    }

    /// Refreshes a sign-in, unless another process that shares the storage has done so, or has signed in another user.
    private func refreshUnlessNewer(_ present: AuthenticationResult) async throws -> IssuedToken {
        if let newer = await storage.readNewer() { return try await restore(newer) }
        do { return try await refresh(present).token } catch  where error.isRejection {
            guard let newer = await storage.readNewer() else { throw error }
            return try await restore(newer)
        }
    }

    /// - Returns: The token, and whether it was the response to a sign-in.
    private func refresh(_ present: AuthenticationResult) async throws -> (token: IssuedToken, isSignIn: Bool) {
        let asked = SignInMoment(now: timebase.now, date: options.date())
        switch options.refresh.kind {
        case .none:
            throw FeathersError(.notAuthenticated, "The sign-in has expired, and the app has no way to refresh it")
        case .service(let path, let field, let fields):
            guard let refreshToken = present.refreshToken else {
                throw FeathersError(.notAuthenticated, "The sign-in has expired, and it has no refresh token")
            }
            var data = fields
            data[field] = .string(refreshToken)
            let answer = try await send(ServiceRequest(path: path, method: .create, data: .object(data)))
            return (issued(try present.merging(answer.value), asked, isNew: true), false)
        case .function(let function):
            switch try await ask(function, present) {
            case .tokens(var tokens):
                tokens.refreshToken = tokens.refreshToken ?? present.refreshToken
                return (
                    issued(try AuthenticationResult(tokens, replacingThoseOf: present.value), asked, isNew: true), false
                )
            case .credentials(let credentials): return (try await signIn(credentials), true)
            }
        }
    }

    private func ask(
        _ function: @escaping @Sendable (AuthenticationResult) async throws -> TokenRefresh.Outcome,
        _ present: AuthenticationResult
    ) async throws -> TokenRefresh.Outcome {
        let limit = Duration.seconds(30)
        return try await timebase.run(
            atMost: limit,
            orThrow: FeathersError(
                .timeout, "The refresh function took longer than \(limit)", execution: .mayHaveExecuted)
        ) { try await function(present) }
    }

    /// Returns a result with the values derived from its token.
    private func issued(_ result: AuthenticationResult, _ asked: SignInMoment, isNew: Bool, over connection: Int? = nil)
        -> IssuedToken
    {
        let expiry = TokenExpiry.moment(of: result.payload, askedFor: asked, isNew: isNew)
        let canRefresh = options.refresh.canRefresh(result.tokens)
        let refreshMoment = expiry.flatMap { expiry -> Duration? in
            guard canRefresh else { return nil }
            return expiry
                - TokenExpiry.lead(
                    options.refreshLead, of: result.payload, remaining: expiry - asked.now, isNew: isNew)
        }
        return IssuedToken(
            result: result, expiry: expiry, refreshMoment: refreshMoment, canRefresh: canRefresh, connection: connection
        )
    }
}

extension AuthenticationResult {
    /// Returns the result with its properties replaced by those in the response of a refresh service.
    fileprivate func merging(_ answer: JSONValue) throws(FeathersError) -> AuthenticationResult {
        guard let answered = answer.object, answered["accessToken"]?.string?.isEmpty == false else {
            throw FeathersError(.generalError, "The response of the refresh service has no 'accessToken'")
        }
        var value = value
        for (key, part) in answered { value[key] = part }
        return try AuthenticationResult(value)
    }
}

/// Sends the requests of an attempt as calls of the app, through its hooks.
///
/// Between two requests, it retains neither the app nor the authenticator, so that an attempt keeps neither alive.
struct AttemptSender: Sendable {
    /// The total number of tries for a request whose connection is lost before the response arrives.
    private static let tries = 3

    let id: Int
    let work: AuthenticationSession.Work
    let authenticator: @Sendable () -> Authenticator?

    @Sendable func send(_ request: ServiceRequest) async throws -> SignInRequests.Answer {
        if case .announce = work { return try await announce(request) }
        var tries = 1
        while true {
            do {
                return try await sendOnce(request)
            } catch
                where error.isConnectionLoss && tries < Self.tries && authenticator()?.repeatsRequests(of: id) == true
            {
                tries += 1
            }
        }
    }

    /// Sends a token over the connection that needs it, without hooks, because no user signs in. Another connection gets
    /// an announcement of its own.
    private func announce(_ request: ServiceRequest) async throws -> SignInRequests.Answer {
        guard let authenticator = authenticator(), let app = authenticator.app(),
            let (connection, send) = authenticator.state.withLock({ state in
                state.send.map { (state.session.connectionNumber, $0) }
            })
        else { throw FeathersError(.unavailable, "The connection has ended", execution: .neverSent) }
        var request = request
        request.sender = try authenticator.requestBegan(id, app).sender
        try request.checkSender()
        let response = try await authenticator.signingIn { [request] in try await send(request) }
        return (response.result, connection)
    }

    private func sendOnce(_ request: ServiceRequest) async throws -> SignInRequests.Answer {
        guard let authenticator = authenticator(), let app = authenticator.app() else {
            throw FeathersError(.unavailable, "The app was released before it signed in", execution: .neverSent)
        }
        // Resolving the stored identity ends the period without a user, and with it the requests made during that
        // period.
        _ = await app.resolvedIdentity()
        let (before, sender) = try authenticator.requestBegan(id, app)
        var request = request
        request.params.concernsConnection = true
        request.sender = sender
        // Calls in flight wait for this request, even while the app shuts down.
        let response = try await app.onBehalfOfCalls { [request] in
            try await app.service(request.path).respond(to: request)
        }
        let after = authenticator.connectionNumber
        let wentBeside = response[WentBesideConnection.self] == true
        return (response.result, wentBeside || (before != nil && before != after) ? nil : after)
    }
}

extension Authenticator {
    var connectionNumber: Int? { state.withLock { $0.session.connectionNumber } }

    /// - Returns: The number of the connection that the request is sent over, nil if it waits for one; and the sender
    ///   of the request.
    /// - Throws: `CancellationError` if the attempt is no longer current.
    fileprivate func requestBegan(_ id: Int, _ app: FeathersApp) throws(CancellationError) -> (
        connection: Int?, sender: RequestSender
    ) {
        let (isCurrent, connection, sender) = state.withLock { state in
            return (
                state.session.isCurrent(id), state.session.isConnected ? state.session.connectionNumber : nil,
                app.currentSender
            )
        }
        guard isCurrent else { throw CancellationError() }
        return (connection, sender)
    }

    /// Returns whether another connection may open over which a request can be repeated.
    fileprivate func repeatsRequests(of id: Int) -> Bool {
        guard state.withLock({ $0.session.isCurrent(id) }), let transport = app()?.transport as? any RealTimeTransport
        else { return false }
        switch transport.status {
        case .connecting, .connected, .waiting: return true
        case .offline, .closed: return false
        }
    }
}

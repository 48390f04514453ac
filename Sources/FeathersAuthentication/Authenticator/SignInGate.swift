import FeathersCore
import FeathersSupport

/// The middleware that every call passes before it is sent, inside all hooks and the cache.
struct SignInGate: Middleware {
    let order = MiddlewareOrder.authentication
    let authenticator: Authenticator

    /// The target of a call behind the gate.
    enum Destination: Sendable {
        /// The app's own server, or an endpoint. The endpoint's call says whether it carries credentials.
        case ownServer
        /// A service registered with its own transport, which may connect to another server.
        case registered(RemoteResponder)
        /// A local service of the app, which may forward the call to any server.
        case local
    }

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        let destination: Destination =
            switch site.implementation {
            case _ where site.path == nil: .ownServer
            case let service as RemoteResponder: service.isOwn ? .ownServer : .registered(service)
            default: .local
            }
        return GatedResponder(authenticator: authenticator, destination: destination, next: next)
    }
}

private struct GatedResponder: Responder {
    let authenticator: Authenticator
    let destination: SignInGate.Destination
    let next: any Responder

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await authenticator.gate(request, to: destination) { try await next.respond(to: $0) }
    }
}

extension Authenticator {
    /// Waits for a sign-in in progress, then sends a call with the sign-in. If the server refuses the token, sends it
    /// once more with a renewed one.
    ///
    /// The time spent waiting counts toward the call's timeout.
    /// - Throws: ``FeathersError/Code/timeout`` if the call's time ends before the sign-in does;
    ///   ``FeathersError/Code/notAuthenticated`` if the signed-in user changes before the call is sent, or before a
    ///   read gets its response.
    func gate(
        _ request: ServiceRequest, to destination: SignInGate.Destination,
        _ next: (ServiceRequest) async throws -> ServiceResponse
    ) async throws -> ServiceResponse {
        // Other servers must not receive this app's token, and their responses say nothing about it.
        guard request.params.carriesCredentials else { return try await next(request) }
        try request.checkSender()
        if Self.performing == ObjectIdentifier(self) {
            let part = partOfAttempt(request, to: destination)
            guard request.path == options.path, request.method == .create else { return try await next(part) }
            // Hooks have run, so only the server's response remains to be waited for.
            return try await signingIn { try await next(part) }
        }
        if isExempt(request.path) { return try await next(request) }

        // A call with credentials of its own neither waits for the app's sign-in nor affects it.
        if request.isForAnotherUser(in: app()) {
            var request = request
            request.sender = .ofCall
            var response = try await next(request)
            response[SentAs.self] = .ofCall
            return response
        }

        let deadline = request.params.timeout.map { timebase.now + $0 }
        let passage = try await permission(for: request, to: destination, until: deadline)
        let sender = passage.sender ?? RequestSender(nil)
        // A queued write is sent only as the user who made it.
        if let own = request.sender, own !== sender { throw FeathersError.senderChanged(request) }
        var first = request
        first.sender = sender
        if passage.waited.end != nil, let deadline {
            let remaining = deadline - timebase.now
            guard remaining > .zero else { throw timeout(of: request) }
            first.params.timeout = remaining
        }
        guard let signedIn = passage.signedIn, trusts(destination) else { return try noted(await next(first), first) }
        addSignIn(signedIn, to: &first, for: destination)
        do {
            return try noted(await next(first), first)
        } catch let error as FeathersError
            where error.code == .notAuthenticated && error.execution == .answered && sender.isCurrent
            && !passage.waited.hasRefreshed
        {
            // A local service may throw such an error itself, or pass on the error of a server that never received the
            // token.
            if case .local = destination, first.params.appToken?.wasSent != true { throw error }
            let end = endOfWaiting(deadline, destination)
            guard let renewed = try await renewal(of: signedIn, request, until: end) else { throw error }
            var second = first
            if let deadline {
                guard deadline > timebase.now else { throw error }
                second.params.timeout = deadline - timebase.now
            }
            addSignIn(renewed, to: &second, for: destination, inPlaceOf: signedIn)
            return try noted(await next(second), second)
        }
    }

    /// Records the sender of a response, and checks that the response may still be passed on to its caller.
    private func noted(_ response: ServiceResponse, _ request: ServiceRequest) throws -> ServiceResponse {
        var response = try request.checked(response)
        response[SentAs.self] = request.sender
        return response
    }

    /// Returns whether a service is needed for signing in, so that its calls must not wait for a sign-in.
    private func isExempt(_ path: String) -> Bool {
        if path == options.path { return true }
        if case .service(let refreshPath, _, _) = options.refresh.kind { return path == refreshPath }
        return false
    }

    /// Prepares a call that a hook or a refresh function makes within an attempt. It must not wait for a connection
    /// that awaits the attempt.
    private func partOfAttempt(_ request: ServiceRequest, to destination: SignInGate.Destination) -> ServiceRequest {
        var request = request
        request.params.concernsConnection = true
        if Self.isLoggingOut { request.params.endsConnection = true }
        if !isExempt(request.path), trusts(destination), let signedIn = state.withLock({ $0.session.signedIn }) {
            addSignIn(signedIn, to: &request, for: destination)
        }
        return request
    }

    // MARK: Waiting

    /// Waits for a sign-in in progress.
    private func permission(
        for request: ServiceRequest, to destination: SignInGate.Destination, until deadline: Duration?
    ) async throws -> Passage {
        let passage = try await proceed(
            until: endOfWaiting(deadline, destination), orThrow: timeout(of: request)
        ) { [timebase] state, waited in
            switch waited.end?.outcome {
            case .failed: throw Self.neverSent(because: waited.end?.error)
            case .loggedOut: throw FeathersError.loggedOut
            case .signedIn, .nothingStored, .superseded, .postponed, nil: break
            }
            // A request made as one user must not be sent as another.
            if let number = waited.signIn, number != state.session.signIn { throw FeathersError.senderChanged(request) }
            return state.session.callBegan(at: timebase.now, hasRenewed: waited.hasRenewed)
        }
        guard let passage else { throw FeathersError.loggedOut }
        return passage
    }

    /// Returns when a call stops waiting: at its own limit, or after the time that its transport gives a call, but at
    /// the latest at the caller's deadline.
    private func endOfWaiting(_ deadline: Duration?, _ destination: SignInGate.Destination) -> Duration? {
        let transport: (any Transport)? =
            if case .registered(let service) = destination { service.transport } else { app()?.transport }
        let limit = deadline.map { $0 - timebase.now } ?? transport?.defaultTimeout
        return DeadlineScope.bound(limit).map { timebase.now + $0 }
    }

    /// Returns the failure of a call that waited for a sign-in. The call itself was not sent, regardless of what
    /// happened to the sign-in.
    private static func neverSent(because error: (any Error)?) -> any Error {
        guard var failure = error as? FeathersError else { return error ?? CancellationError() }
        failure.execution = .neverSent
        return failure
    }

    private func timeout(of request: ServiceRequest) -> FeathersError {
        FeathersError(
            .timeout, "'\(request.method)' on service '\(request.path)' timed out waiting for the app to sign in",
            execution: .neverSent)
    }

    /// Waits for another token after the server has refused one.
    /// - Returns: The sign-in with which to repeat the call; nil if there is none.
    private func renewal(
        of rejected: AuthenticationSession.SignedIn, _ request: ServiceRequest, until deadline: Duration?
    ) async throws -> AuthenticationSession.SignedIn? {
        do {
            let passage = try await proceed(until: deadline, orThrow: timeout(of: request)) {
                [timebase] state, waited in
                guard let end = waited.end else { return state.session.tokenRejected(of: rejected, at: timebase.now) }
                // A log-out and another sign-in may have come first.
                guard case .signedIn = end.outcome, let renewed = state.session.signedIn,
                    renewed.signIn == rejected.signIn
                else { return (.fail, []) }
                return (.send(renewed), [])
            }
            return passage?.signedIn
        } catch is FeathersError {
            return nil
        }
    }

    // MARK: Credentials

    /// Returns whether the target may receive the token.
    private func trusts(_ destination: SignInGate.Destination) -> Bool {
        guard case .registered(let service) = destination else { return true }
        return app()?.trusts(service) ?? false
    }

    /// Adds the sign-in to the places where servers, hooks and local services read it. Values set by the caller are
    /// preserved. Values of `old`, the sign-in of a first attempt, are replaced.
    private func addSignIn(
        _ signedIn: AuthenticationSession.SignedIn, to request: inout ServiceRequest,
        for destination: SignInGate.Destination,
        inPlaceOf old: AuthenticationSession.SignedIn? = nil
    ) {
        let result = signedIn.token.result
        let present = request.params[Authentication.self]
        if present == nil || present == old?.token.result { request.params[Authentication.self] = result }
        // A connection is itself signed in. Only endpoints, calls over another transport, and services with their own
        // transport need the header.
        let hasOtherWay =
            if case .registered = destination { true } else { callsCarryCredentials || request.params.travelsByHTTP }
        guard hasOtherWay else { return }
        let own = request.params.headers.first { $0.key.caseInsensitivelyEquals(options.header) }
        if let own, own.value != old.map({ tokenForm.value(of: $0.token.result.accessToken) }) { return }
        let (field, value) = (own?.key ?? options.header, tokenForm.value(of: result.accessToken))
        let borrowed = if case .local = destination { app() } else { nil as FeathersApp? }
        request.params.setToken(field, value, of: request.sender, lentBy: borrowed)
    }
}

extension String {
    fileprivate func caseInsensitivelyEquals(_ other: String) -> Bool {
        utf8.count == other.utf8.count && lowercased() == other.lowercased()
    }
}

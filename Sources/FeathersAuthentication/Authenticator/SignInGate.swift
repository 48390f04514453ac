import FeathersCore
import FeathersSupport

/// The gate that every call passes before it is sent: inside all hooks and the cache.
struct SignInGate: Middleware {
    let order = MiddlewareOrder.authentication
    let authenticator: Authenticator

    /// What is behind the gate.
    enum Destination: Sendable {
        /// The app's own server, or an endpoint, whose call says whether it carries credentials.
        case ownServer
        /// A service that is registered with a transport of its own, which may lead to another server.
        case registered(TransportService)
        /// A service of the program's own, which may hand the call on to any server.
        case local
    }

    func around(_ next: any ServiceProtocol, at site: MiddlewareSite) -> (any ServiceProtocol)? {
        let destination: Destination =
            switch site.implementation {
            case _ where site.path == nil: .ownServer
            case let service as TransportService: service.isOwn ? .ownServer : .registered(service)
            default: .local
            }
        return GatedService(authenticator: authenticator, destination: destination, next: next)
    }
}

private struct GatedService: ServiceProtocol {
    let authenticator: Authenticator
    let destination: SignInGate.Destination
    let next: any ServiceProtocol

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await authenticator.gate(request, to: destination) { try await next.respond(to: $0) }
    }
}

extension Authenticator {
    /// Lets a call wait for a sign-in in progress, and sends it with the sign-in: once more, with a renewed token, if the server refuses the first.
    ///
    /// Waiting counts into the call's timeout.
    /// - Throws: ``FeathersError/Code/timeout`` if the call's time ends before the sign-in does; ``FeathersError/Code/notAuthenticated`` if the signed-in
    ///   user changes before the call is sent, or before a read is answered.
    func gate(
        _ request: ServiceRequest, to destination: SignInGate.Destination, _ next: (ServiceRequest) async throws -> ServiceResponse
    ) async throws -> ServiceResponse {
        // Another server neither gets this app's token nor judges it.
        guard request.params.carriesCredentials else { return try await next(request) }
        try request.checkSender()
        if Self.performing == ObjectIdentifier(self) { return try await next(partOfAttempt(request, to: destination)) }
        if isExempt(request.path) { return try await next(request) }

        let deadline = request.params.timeout.map { timebase.now + $0 }
        let pass = try await passage(of: request, until: deadline)
        // A queued write is sent in the name of the user who made it, or not at all.
        if let sender = request.sender, sender !== pass.sender { throw FeathersError.senderChanged(request) }
        var first = request
        first.sender = pass.sender
        if pass.hasWaited, let deadline {
            let remaining = deadline - timebase.now
            guard remaining > .zero else { throw timeout(of: request) }
            first.params.timeout = remaining
        }
        guard let signedIn = pass.signedIn, trusts(destination) else { return try noted(await next(first), pass.sender, request) }
        guard addSignIn(signedIn, to: &first, for: destination) else {
            // Sent with a token of the caller's own, in no one's name that the app knows.
            first.sender = nil
            return try await next(first)
        }
        do {
            return try noted(await next(first), pass.sender, request)
        } catch let error as FeathersError where error.code == .notAuthenticated && error.execution == .answered && pass.sender.isCurrent {
            guard let renewed = try await renewal(of: signedIn, request, until: deadline) else { throw error }
            var second = first
            if let deadline {
                guard deadline > timebase.now else { throw error }
                second.params.timeout = deadline - timebase.now
            }
            _ = addSignIn(renewed, to: &second, for: destination, inPlaceOf: signedIn)
            return try noted(await next(second), pass.sender, request)
        }
    }

    /// Notes whom a response was asked for as. What one user has asked is not shown to the next; the answer to a write goes to its caller, since it tells
    /// what has happened.
    private func noted(_ response: ServiceResponse, _ sender: RequestSender, _ request: ServiceRequest) throws -> ServiceResponse {
        let isRead = request.method == .find || request.method == .get
        if isRead, !sender.isCurrent {
            throw FeathersError(.notAuthenticated, "The signed-in user changed before the answer came", execution: .answered)
        }
        var response = response
        response[SentAs.self] = sender
        return response
    }

    /// Services that signing in takes must not wait for it.
    private func isExempt(_ path: String) -> Bool {
        if path == options.path { return true }
        if case .service(let refreshPath, _, _) = options.refresh.kind { return path == refreshPath }
        return false
    }

    /// A call that a hook or a refresh function makes within an attempt. It must not wait for a connection that waits for the attempt.
    private func partOfAttempt(_ request: ServiceRequest, to destination: SignInGate.Destination) -> ServiceRequest {
        var request = request
        request.params.concernsConnection = true
        if !isExempt(request.path), trusts(destination), let signedIn = state.withLock({ $0.session.signedIn }) {
            _ = addSignIn(signedIn, to: &request, for: destination)
        }
        return request
    }

    // MARK: Waiting

    private struct Pass: Sendable {
        /// What the call is sent with; nil for no sign-in.
        var signedIn: AuthenticationSession.SignedIn?
        /// Whom the call is sent as, taken together with the sign-in.
        var sender: RequestSender
        var hasWaited = false
    }

    private func passage(of request: ServiceRequest, until deadline: Duration?) async throws -> Pass {
        var number: Int?
        while true {
            let (passage, signIn, sender, ended, change, effects) = try state.withLock { [number] state in
                // What one user has asked is not sent as another.
                if let number, number != state.session.signIn { throw FeathersError.senderChanged(request) }
                let (passage, actions) = state.session.callBegan(at: timebase.now)
                let effects = actions.isEmpty ? nil : note(actions, &state)
                let signIn = state.session.signIn
                guard case .wait(let id) = passage else {
                    return (passage, signIn, app()?.currentSender, nil as Promise<AttemptEnd>?, state.change, effects)
                }
                return (passage, signIn, nil, join(id, &state), state.change, effects)
            }
            if let effects { carryOutAtOnce(effects) }
            switch passage {
            case .pass(let signedIn): return Pass(signedIn: signedIn, sender: sender ?? RequestSender(nil), hasWaited: number != nil)
            case .waitForDeparture:
                number = signIn
                let limit = deadline.map { $0 - timebase.now }
                try await timebase.run(atMost: limit, orThrow: self.timeout(of: request)) { try await change.value() }
            case .wait(let id):
                guard let ended else { continue }
                number = signIn
                let end = try await wait(for: id, ended, atMost: deadline.map { ($0 - timebase.now, timeout(of: request)) })
                switch end.outcome {
                case .signedIn, .nothingStored, .superseded, .postponed: continue
                case .failed: throw Self.neverSent(because: end.error)
                case .loggedOut: throw FeathersError.loggedOut
                }
            }
        }
    }

    /// The failure of a call that waited for a sign-in. Whatever happened to the sign-in, the call itself was not sent.
    private static func neverSent(because error: (any Error)?) -> any Error {
        guard var failure = error as? FeathersError else { return error ?? CancellationError() }
        failure.execution = .neverSent
        return failure
    }

    private func timeout(of request: ServiceRequest) -> FeathersError {
        FeathersError(
            .timeout, "'\(request.method)' on service '\(request.path)' waited too long for the app to sign in", execution: .neverSent)
    }

    /// Waits for another token after the server has refused one.
    /// - Returns: the sign-in to try the call with again; nil if there is none.
    private func renewal(
        of rejected: AuthenticationSession.SignedIn, _ request: ServiceRequest, until deadline: Duration?
    ) async throws -> AuthenticationSession.SignedIn? {
        let (verdict, ended, effects) = state.withLock { state in
            let (verdict, actions) = state.session.tokenRejected(of: rejected)
            let effects = note(actions, &state)
            guard case .wait(let id) = verdict else { return (verdict, nil as Promise<AttemptEnd>?, effects) }
            return (verdict, join(id, &state), effects)
        }
        try? await carryOut(effects)
        if case .wait(let id) = verdict, let ended {
            let limit = deadline.map { ($0 - timebase.now, timeout(of: request)) }
            let end: AttemptEnd
            do { end = try await wait(for: id, ended, atMost: limit) } catch is FeathersError { return nil }
            guard case .signedIn = end.outcome else { return nil }
        }
        guard verdict != .fail, let renewed = state.withLock({ $0.session.signedIn }) else { return nil }
        // A log-out and another sign-in may have come first.
        return renewed.signIn == rejected.signIn ? renewed : nil
    }

    // MARK: Credentials

    /// Whether what is behind the gate may see the token.
    private func trusts(_ destination: SignInGate.Destination) -> Bool {
        guard case .registered(let service) = destination else { return true }
        return app()?.trusts(service) ?? false
    }

    /// Adds the sign-in where servers, hooks and local services look for it. What the caller has set stays.
    /// - Parameter old: the sign-in of a first try, which is replaced.
    /// - Returns: whether the call is sent with the sign-in's token, rather than with the caller's.
    private func addSignIn(
        _ signedIn: AuthenticationSession.SignedIn, to request: inout ServiceRequest, for destination: SignInGate.Destination,
        inPlaceOf old: AuthenticationSession.SignedIn? = nil
    ) -> Bool {
        let result = signedIn.token.result
        let present = request.params[Authentication.self]
        if present == nil || present == old?.token.result { request.params[Authentication.self] = result }
        // A connection is signed in itself. Endpoints, calls with another way to take, and services with a transport of their own need
        // the header.
        let hasOtherWay = if case .registered = destination { true } else { callsCarryCredentials || request.params.travelsByHTTP }
        guard hasOtherWay else { return true }
        let own = request.params.headers.first { $0.key.caseInsensitivelyEquals(options.header) }
        if let own, own.value != old.map({ headerValue($0.token.result.accessToken) }) { return false }
        let (field, value) = (own?.key ?? options.header, headerValue(result.accessToken))
        if case .local = destination, let app = app() {
            request.params.lend(field, value, of: app)
        } else {
            request.params.headers[field] = value
        }
        return true
    }
}

extension String {
    fileprivate func caseInsensitivelyEquals(_ other: String) -> Bool {
        utf8.count == other.utf8.count && lowercased() == other.lowercased()
    }
}

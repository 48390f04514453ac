import FeathersCore
import FeathersSupport

/// The hook around every call.
extension Authenticator {
    /// Lets a call wait for a pending sign-in, sends it out as who is signed in, and once more where the server did not take the token.
    func around(_ context: inout HookContext, _ next: NextHook) async throws {
        // Somebody else's server neither gets our token nor judges it.
        guard context.params.carriesCredentials, !isExempt(context.path), let signedIn = try await passage(context) else {
            return try await next(&context)
        }
        guard addSignIn(signedIn, to: &context) else { return try await next(&context) }
        // Each try starts from the call as it was: the hooks inside have not run yet.
        var attempt = context
        do {
            try await next(&attempt)
            context = attempt
            return
        } catch let error as FeathersError where error.code == .notAuthenticated && error.execution == .answered && !Self.isPerforming {
            guard let renewed = try await renewal(of: signedIn, context) else { throw error }
            _ = addSignIn(renewed, to: &context, inPlaceOf: signedIn)
        }
        try await next(&context)
    }

    /// The services signing in is done with must not wait for it.
    private func isExempt(_ path: String) -> Bool {
        if path == options.path { return true }
        if case .service(let refreshPath, _, _) = options.refresh.kind { return path == refreshPath }
        return false
    }

    /// Waits until the call may go out.
    /// - Returns: who it goes out as; nil for nobody.
    private func passage(_ context: HookContext) async throws -> AuthenticationSession.SignedIn? {
        while true {
            let (passage, effects): (AuthenticationSession.Passage, Effects?) = state.withLock { state in
                if Self.isPerforming { return (.pass(state.session.signedIn), nil) }
                let (passage, actions) = state.session.callBegan(at: timebase.now)
                let effects = actions.isEmpty ? nil : note(actions, &state)
                if case .wait(let id) = passage { state.work.enter(id) }
                return (passage, effects)
            }
            if let effects { carryOutAtOnce(effects) }
            guard case .wait(let id) = passage else {
                guard case .pass(let signedIn) = passage else { return nil }
                return signedIn
            }
            let end = try await takePart(in: id, context.app)
            switch end.outcome {
            case .signedIn, .nothingStored, .superseded, .postponed: continue
            case .failed: throw Self.neverSent(because: end.error)
            case .loggedOut: throw Self.loggedOut
            }
        }
    }

    /// The failure of a call that waited for a sign-in: whatever became of the sign-in, the call itself has not left.
    private static func neverSent(because error: (any Error)?) -> any Error {
        guard var failure = error as? FeathersError else { return error ?? CancellationError() }
        failure.execution = .neverSent
        return failure
    }

    /// Waits for another token after the server did not take one.
    /// - Returns: whom to try the call again as; nil where that makes no sense.
    private func renewal(
        of rejected: AuthenticationSession.SignedIn, _ context: HookContext
    ) async throws -> AuthenticationSession.SignedIn? {
        let (verdict, effects) = state.withLock { state in
            let (verdict, actions) = state.session.tokenRejected(version: rejected.version)
            let effects = note(actions, &state)
            if case .wait(let id) = verdict { state.work.enter(id) }
            return (verdict, effects)
        }
        try? await carryOut(effects)
        switch verdict {
        case .fail: return nil
        case .replay: break
        case .wait(let id):
            guard case .signedIn = try await takePart(in: id, context.app).outcome else { return nil }
        }
        return state.withLock { $0.session.signedIn }
    }

    static var loggedOut: FeathersError {
        FeathersError(.notAuthenticated, "The app logged out while this waited for the sign-in", execution: .neverSent)
    }

    /// Puts the sign-in where servers, hooks and local services look for it; the caller's own always wins.
    /// - Parameter old: the sign-in of a first try, which is ours to replace.
    /// - Returns: whether the call goes out with the sign-in's token, rather than with the caller's.
    private func addSignIn(
        _ signedIn: AuthenticationSession.SignedIn, to context: inout HookContext, inPlaceOf old: AuthenticationSession.SignedIn? = nil
    ) -> Bool {
        let result = signedIn.token.result
        let present = context.params[Authentication.self]
        if present == nil || present == old?.token.result { context.params[Authentication.self] = result }
        // A connection is signed in itself; an endpoint's request goes beside it, and so may others where there is a way.
        guard context.app.callsCarryCredentials || context.params.travelsByHTTP else { return true }
        let own = context.params.headers.first { $0.key.caseInsensitivelyEquals(options.header) }
        if let own, own.value != old.map({ headerValue($0.token.result.accessToken) }) { return false }
        context.params.headers[own?.key ?? options.header] = headerValue(result.accessToken)
        return true
    }

    func headerValue(_ accessToken: String) -> String {
        options.scheme.isEmpty ? accessToken : "\(options.scheme) \(accessToken)"
    }
}

extension String {
    fileprivate func caseInsensitivelyEquals(_ other: String) -> Bool {
        utf8.count == other.utf8.count && lowercased() == other.lowercased()
    }
}

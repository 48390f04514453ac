import FeathersCore
import FeathersSupport

/// The sign-in with which an event stream was opened.
struct StreamOpening: Sendable {
    let signIn: Int
    /// The version of its token; nil without a token.
    let version: Int?
}

/// The authenticator's work on event streams, whose server knows the user only from the header fields that opened them.
extension Authenticator {
    var streamSetup: ConnectionSetup {
        ConnectionSetup(
            headers: { [weak self] in try await self?.streamHeaders() ?? [:] },
            prepare: { [weak self] _ in self?.streamOpened() },
            reconnects: { [weak self] in await self?.renewsToken(after: $0) ?? false })
    }

    /// Waits for a sign-in in progress, and tries a stored token, as a call does.
    /// - Returns: The header field with the token; empty if no user is signed in.
    /// - Throws: The reason why it is unknown whether a user is signed in.
    private func streamHeaders() async throws -> [String: String] {
        while true {
            let (permission, ended, effects) = state.withLock { state in
                let (permission, actions) = state.session.callBegan(at: timebase.now)
                let effects = actions.isEmpty ? nil : note(actions, &state)
                var ended: Promise<End>?
                switch permission {
                case .wait(let id): ended = join(id, &state)
                case .send(let signedIn):
                    state.opened = StreamOpening(signIn: state.session.signIn, version: signedIn?.version)
                case .fail: break
                }
                return (permission, ended, effects)
            }
            if let effects { carryOutAtOnce(effects) }
            switch permission {
            case .send(let signedIn?): return [options.header: tokenForm.value(of: signedIn.token.result.accessToken)]
            case .send(nil), .fail: return [:]
            case .wait(let id):
                guard let ended else { continue }
                let end = try await wait(for: id, ended)
                // After a refusal, no user is signed in.
                if case .failed = end.outcome, let error = end.error, !error.isRejection { throw error }
            }
        }
    }

    /// Delivers the stream's events, unless the user has changed since it was requested. In that case, it is about to
    /// be opened again.
    private func streamOpened() { state.withLock { connectionChanged($0) } }

    /// Returns whether the stream has a token that is no longer the current one. Reports each token once.
    func takeRenewal(_ state: inout State) -> Bool {
        guard let opened = state.opened, let version = opened.version, let signedIn = state.session.signedIn,
            opened.signIn == signedIn.signIn, version != signedIn.version
        else { return false }
        state.opened = nil
        return true
    }

    /// Gets another token after the server has refused the stream with 401.
    /// - Returns: Whether to open the stream again.
    private func renewsToken(after reason: DisconnectReason) async -> Bool {
        guard case .refused(_) = reason else { return false }
        let (permission, ended, effects): (AuthenticationSession.Permission, Promise<End>?, Effects?) =
            state.withLock { state in
                guard let opened = state.opened, let signedIn = state.session.signedIn,
                    signedIn.signIn == opened.signIn,
                    signedIn.token.canRefresh
                else { return (.fail, nil, nil) }
                var rejected = signedIn
                rejected.version = opened.version ?? signedIn.version
                let (permission, actions) = state.session.tokenRejected(of: rejected)
                let effects = note(actions, &state)
                guard case .wait(let id) = permission else { return (permission, nil, effects) }
                return (permission, join(id, &state), effects)
            }
        if let effects { try? await carryOut(effects) }
        switch permission {
        case .fail: return false
        case .send: return true
        case .wait(let id):
            guard let ended, let end = try? await wait(for: id, ended), case .signedIn = end.outcome else {
                return false
            }
            return true
        }
    }
}

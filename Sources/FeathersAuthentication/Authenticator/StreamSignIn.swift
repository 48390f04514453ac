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
        let passage = try await proceed { [timebase] state, waited in
            // After a refusal, no user is signed in.
            if case .failed? = waited.end?.outcome, let error = waited.end?.error, !error.isRejection { throw error }
            let answer = state.session.callBegan(at: timebase.now, hasRenewed: waited.hasRenewed)
            if case .send(let signedIn) = answer.permission {
                state.opened = StreamOpening(signIn: state.session.signIn, version: signedIn?.version)
            }
            return answer
        }
        guard let signedIn = passage?.signedIn else { return [:] }
        return [options.header: tokenForm.value(of: signedIn.token.result.accessToken)]
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
        let passage = try? await proceed { [timebase] state, waited in
            if let end = waited.end {
                guard case .signedIn = end.outcome else { return (.fail, []) }
                return (.send(state.session.signedIn), [])
            }
            guard let opened = state.opened, var rejected = state.session.signedIn, rejected.signIn == opened.signIn,
                rejected.token.canRefresh
            else { return (.fail, []) }
            rejected.version = opened.version ?? rejected.version
            return state.session.tokenRejected(of: rejected, at: timebase.now, insists: true)
        }
        return passage != nil
    }
}

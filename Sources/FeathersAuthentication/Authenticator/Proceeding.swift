import FeathersCore
import FeathersSupport

/// How everything waits for the sign-in: calls, connections, event streams, and the app itself.
extension Authenticator {
    /// What a caller has waited for so far.
    struct Waited: Sendable {
        /// The number of the sign-in under which it began to wait; nil if it has not waited.
        var signIn: Int?
        /// Whether it has waited for a renewal of the token. One is enough: the next call can begin another.
        var hasRenewed = false
        /// Whether that renewal fetched a token.
        var hasRefreshed = false
        /// The end of the last attempt.
        var end: End?
    }

    /// The sign-in with which a caller proceeds.
    struct Passage: Sendable {
        let signedIn: AuthenticationSession.SignedIn?
        /// Captured together with the sign-in.
        let sender: RequestSender?
        let waited: Waited
    }

    /// Asks what to do next, does and waits for it, and asks again, until the caller may proceed.
    /// - Parameters:
    ///   - deadline: The time when the caller stops waiting for attempts; nil for none.
    ///   - late: The error to throw then.
    ///   - ask: Decides while the lock is held.
    /// - Returns: Nil if the decision is ``AuthenticationSession/Permission/fail``.
    /// - Throws: The errors of `ask`, and `CancellationError` if the task is cancelled.
    func proceed(
        until deadline: @autoclosure () -> Duration? = nil,
        orThrow late: @autoclosure () -> FeathersError = FeathersError(.timeout, "The app has not signed in"),
        _ ask: (inout State, Waited) throws -> AuthenticationSession.Answer
    ) async throws -> Passage? {
        var (waited, limit) = (Waited(), nil as (time: Duration, error: FeathersError)?)
        while true {
            try Task.checkCancellation()
            let (permission, sender, ended, change, effects, isRefresh) = try state.withLock { state in
                let signIn = state.session.signIn
                let (permission, actions) = try ask(&state, waited)
                let change = state.change
                let effects = actions.isEmpty ? nil : note(actions, &state)
                guard case .wait(let id) = permission else {
                    return (permission, app()?.currentSender, nil as Promise<End>?, change, effects, nil as Bool?)
                }
                waited.signIn = waited.signIn ?? signIn
                let renewal = state.session.signedIn?.renewal
                return (permission, nil, join(id, &state), change, effects, renewal.map { !$0.isAnnouncement })
            }
            if let effects { try? await carryOut(effects) }
            switch permission {
            case .send(let signedIn): return Passage(signedIn: signedIn, sender: sender, waited: waited)
            case .fail: return nil
            case .rest(let moment):
                if let moment {
                    try await timebase.sleep(until: moment, or: change)
                } else {
                    try await change.value()
                }
            case .wait(let id):
                guard let ended else { continue }
                if let isRefresh {
                    (waited.hasRenewed, waited.hasRefreshed) = (true, waited.hasRefreshed || isRefresh)
                }
                if waited.end == nil, let deadline = deadline() { limit = (deadline, late()) }
                waited.end = try await wait(for: id, ended, atMost: limit.map { ($0.time - timebase.now, $0.error) })
            }
        }
    }
}

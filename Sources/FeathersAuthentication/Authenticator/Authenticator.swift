import FeathersCore
import FeathersSupport
import Foundation

/// Signs an app in and keeps it signed in, by carrying out what the session decides.
///
/// It owns the task of every attempt to sign in or refresh. Callers wait for the attempt's promise, so cancelling one
/// caller does not affect the others. The task ends with a log-out, with a later sign-in, and with the app, because an
/// attempt retains the app only during a request.
final class Authenticator: Sendable {
    /// The outcome of an attempt, and the reason for a failure, if any.
    typealias End = (outcome: AuthenticationSession.Outcome, error: (any Error)?)

    /// The state that an attempt shares with its callers.
    struct Attempt: Sendable {
        let ended = Promise<End>()
        var waiters = 0
        /// Whether the attempt continues without callers.
        var isKept = false
    }

    struct State: Sendable {
        var session: AuthenticationSession
        /// The attempts that have not ended.
        var attempts: [Int: Attempt] = [:]
        /// The tasks of all attempts, including those whose response no longer matters.
        var tasks: [Int: Task<Void, Never>] = [:]
        /// The number of the sign-in last reported to the app.
        var toldSignIn: Int
        /// The user of the stored token, during a sign-in that may leave that token in place.
        var storedIdentity: Identity?
        /// Resolved and replaced by every event.
        var change = Promise<Void>()
        /// Whether the next connection is opened without the token, because the server refused a connection with it.
        var leavesOutHandshakeToken = false
        /// The token with which the last connection was opened.
        var sentHandshakeToken: String?
        /// Sends over the present connection; nil without one.
        var send: ConnectionSetup.Send?
        /// The sign-in and the token of the last event stream, if the server identifies its user by its header fields.
        var opened: StreamOpening?
    }

    /// The authenticator whose attempt this task performs. The task's calls must not wait for the attempt.
    @TaskLocal static var performing: ObjectIdentifier?
    /// Whether this task logs out, so that its calls may be sent over a connection that is about to end.
    @TaskLocal static var isLoggingOut = false

    let options: AuthenticationOptions
    let storage: StoredTokens
    let timebase: RelativeClock
    let state: Locked<State>
    let updates = CurrentValue(AuthenticationState.signedOut)
    /// Whether calls carry the token themselves, instead of relying on the connection.
    let callsCarryCredentials: Bool
    /// The transport whose connection ends with its user; nil if the app has none.
    let connections: (any ConnectionReplacing)?
    /// The transport whose event stream has the identity of the header fields that opened it; nil if the app has none.
    let stream: (any ReopeningTransport)?
    /// The app, unless it has been released. Weak, because the app retains its authenticator.
    let app: @Sendable () -> FeathersApp?

    init(_ options: AuthenticationOptions, app: FeathersApp) {
        self.options = options
        self.app = { [weak app] in app }
        callsCarryCredentials = app.callsCarryCredentials
        storage = StoredTokens(options.storage, key: options.storageKey) { [weak app] in
            await app?.issuers(at: options.path)
        } warn: { [weak app] message, error in
            app?.diagnostics.log(.warning, .authentication, message, error: error)
        }
        timebase = RelativeClock(options.clock)
        stream = app.transport?.component((any ReopeningTransport).self)
        connections = app.transport?.component((any ConnectionReplacing).self)
        // Event streams carry no calls. Calls go over HTTP and carry the token.
        let session = AuthenticationSession(keepsConnection: stream == nil && app.transport is any RealTimeTransport)
        state = Locked(State(session: session, toldSignIn: session.signIn))
    }

    deinit {
        for task in state.withLock({ $0.tasks.values }) { task.cancel() }
    }

    /// Returns the user of the stored token, if the token names one.
    func storedIdentity() async -> Identity? {
        guard let token = try? await storage.read()?.accessToken,
            let identity = UnverifiedPayload(of: token)?.subject.map(Identity.init)
        else { return nil }
        if let user = await storage.readUser(of: identity) {
            // A sign-in that happened in the meantime knows its own.
            state.withLock { if $0.session.signedIn == nil { app()?.recordUser(user, of: identity) } }
        }
        return identity
    }

    var current: AuthenticationState { state.withLock { $0.session.state } }

    // MARK: Effects

    /// The work that remains after an event, once the lock is released.
    struct Effects: Sendable {
        fileprivate var begun: [(id: Int, work: AuthenticationSession.Work)] = []
        fileprivate var settled: [(ended: Promise<End>, end: End)] = []
        fileprivate var cancelled: [Task<Void, Never>] = []
        fileprivate var change: Promise<Void>?
        fileprivate var removal: Int?
        /// Whether the user's decision, rather than the server's, removes the tokens.
        fileprivate var isLogOut = false
        /// Whether the connection ends with its user. A log-out ends the connection separately, once the server has
        /// been notified.
        var endsConnection = false
        fileprivate var reopensStream = false
    }

    /// Records an event's actions while the lock is held.
    ///
    /// Every event is recorded before its effects are carried out, so that the app knows the signed-in user before
    /// acting for them.
    /// - Parameters:
    ///   - error: The reason for a failed attempt that ends with this event.
    ///   - isLogOut: Whether all tokens are removed, rather than those that the server has refused.
    func note(
        _ actions: [AuthenticationSession.Action], _ state: inout State, because error: (any Error)? = nil,
        isLogOut: Bool = false
    ) -> Effects {
        var effects = Effects()
        effects.isLogOut = isLogOut
        for action in actions {
            switch action {
            case .begin(let id, let work):
                if state.attempts[id] == nil { state.attempts[id] = Attempt() }
                effects.begun.append((id, work))
            case .settle(let id, let outcome):
                guard let attempt = state.attempts.removeValue(forKey: id) else { continue }
                effects.settled.append((attempt.ended, (outcome, error)))
                if let task = state.tasks[id] { effects.cancelled.append(task) }
            case .removeTokens: effects.removal = storage.decide()
            case .publish(let new): updates.enqueue(new)
            }
        }
        effects.change = state.change
        state.change = Promise()
        effects.endsConnection = updateIdentity(&state)
        effects.reopensStream = takeRenewal(&state)
        return effects
    }

    /// Updates the app's identity. A refresh keeps it. A log-out and every separate sign-in change it, even if the user
    /// is the same.
    /// - Returns: Whether the connection ends, because it belongs to the user of the earlier sign-in.
    private func updateIdentity(_ state: inout State) -> Bool {
        let isOther = state.session.signIn != state.toldSignIn
        state.toldSignIn = state.session.signIn
        guard let app = app() else { return false }
        let known = app.identity
        let identity: Identity? =
            switch state.session.phase {
            // A user whom the server does not name gets an identity for this sign-in only.
            case .signedIn(let signedIn):
                signedIn.name.map(Identity.init)
                    ?? (isOther || known == nil ? Identity("unnamed \(UUID().uuidString)") : known)
            case .authenticating(_, let work): work == .restore ? known : nil
            // The user of the stored token, which the next call tries.
            case .signedOut(.untried): known ?? state.storedIdentity
            case .signedOut(.none), .expired: nil
            }
        if case .authenticating = state.session.phase {
            state.storedIdentity = known ?? state.storedIdentity
        } else {
            state.storedIdentity = nil
        }
        let endsConnection = isOther && retireConnection(&state)
        let deliversPushes = deliversPushes(state)
        if !deliversPushes { app.deliversPushedEvents(false) }
        updateUser(of: identity, state.session.phase, in: app)
        if isOther || identity != known { app.changeIdentity(to: identity) }
        if deliversPushes { app.deliversPushedEvents(true) }
        return endsConnection
    }

    /// Sets the record of the user. It stays during a sign-in that may leave the stored token in place.
    private func updateUser(of identity: Identity?, _ phase: AuthenticationSession.Phase, in app: FeathersApp) {
        switch phase {
        case .signedIn(let signedIn):
            if let user = signedIn.token.result.user, !user.isNull { app.recordUser(user, of: identity) }
        case .signedOut(.none), .expired: app.recordUser(nil, of: nil)
        case .authenticating, .signedOut(.untried): break
        }
    }

    /// Retires the connection of a user who has left, so that nothing else is sent over it.
    /// - Returns: Whether the connection belongs to such a user, so that it must be replaced.
    func retireConnection(_ state: inout State) -> Bool {
        guard state.session.connectionMustEnd, let connections else { return false }
        if connections.retireConnection() { return true }
        if state.sentHandshakeToken == nil { state.session.connectionIsNew() }
        return false
    }

    /// Returns whether pushed events are for the present user. The events of an event stream are for the user who
    /// opened it.
    private func deliversPushes(_ state: State) -> Bool {
        guard state.session.deliversPushes else { return false }
        return stream == nil || state.opened?.signIn == state.session.signIn
    }

    /// Delivers pushed events again once the next connection has replaced the one that ended.
    func connectionChanged(_ state: State) {
        app()?.deliversPushedEvents(deliversPushes(state))
    }

    /// Carries out effects. Removes tokens before any caller learns of the event.
    /// - Throws: The storage's error if it did not remove the tokens. All other effects are carried out regardless.
    func carryOut(_ effects: Effects) async throws {
        var failure: (any Error)?
        if let removal = effects.removal {
            do { try await storage.remove(decision: removal, isLogOut: effects.isLogOut) } catch { failure = error }
        }
        carryOutAtOnce(effects)
        if let failure { throw failure }
    }

    /// Carries out effects that do not remove tokens.
    func carryOutAtOnce(_ effects: Effects) {
        for task in effects.cancelled { task.cancel() }
        // Comes first, so that no unsent request of the previous user remains when the next sign-in begins.
        app()?.identityChanged()
        if effects.endsConnection { connections?.replaceConnection() }
        if effects.reopensStream { stream?.reopen() }
        for (id, work) in effects.begun { start(id, work) }
        updates.deliver()
        effects.change?.resolve(())
        for (ended, end) in effects.settled { ended.resolve(end) }
    }

    // MARK: Attempts

    /// Starts the task of an attempt. It is detached because it belongs to all callers, not only to the first.
    private func start(_ id: Int, _ work: AuthenticationSession.Work) {
        let sender = AttemptSender(id: id, work: work) { [weak self] in self }
        let requests = SignInRequests(
            options: options, storage: storage, timebase: timebase, decide: { [weak self] in self?.decision(for: id) },
            keep: { [weak self] in self?.state.withLock { $0.attempts[id]?.isKept = true } }, send: sender.send)
        let owner = ObjectIdentifier(self)
        let scope = app()?.ownScope
        state.withLock { state in
            // The attempt may have ended before it began.
            guard state.attempts[id] != nil else { return }
            // Created with the lock held, so that the end of the attempt finds its task.
            state.tasks[id] = Task.detached { [weak self] in
                let attempt: @Sendable () async -> Void = { [weak self] in
                    let result = await UserScope.run(in: scope) {
                        await Self.$performing.withValue(owner) { await requests.perform(work) }
                    }
                    await self?.finish(id, work, result)
                }
                // A stored sign-in may have to be refreshed too.
                let mayRefresh = work.mayRefresh && requests.options.refresh.isPossible
                if mayRefresh { await requests.storage.exclusively(attempt) } else { await attempt() }
            }
        }
    }

    /// Adds the caller to those who wait for an attempt. Call it while the lock is held.
    func join(_ id: Int, _ state: inout State) -> Promise<End> {
        state.attempts[id]?.waiters += 1
        if let ended = state.attempts[id]?.ended { return ended }
        let ended = Promise<End>()
        ended.resolve((.superseded, nil))
        return ended
    }

    /// Waits for the end of an attempt that the caller has joined.
    /// - Parameter limit: The maximum time to wait, and the error to throw after it.
    /// - Throws: `CancellationError` if the task is cancelled. The attempt continues for the others.
    func wait(
        for id: Int, _ ended: Promise<End>, atMost limit: (time: Duration, error: FeathersError)? = nil
    ) async throws -> End {
        defer { leave(id) }
        guard let limit else { return try await ended.value() }
        return try await timebase.run(atMost: limit.time, orThrow: limit.error) { try await ended.value() }
    }

    private func leave(_ id: Int) {
        let effects: Effects? = state.withLock { state in
            guard let attempt = state.attempts[id] else { return nil }
            state.attempts[id]?.waiters -= 1
            guard attempt.waiters <= 1, !attempt.isKept else { return nil }
            return note(state.session.attemptAbandoned(id), &state, because: CancellationError())
        }
        if let effects { carryOutAtOnce(effects) }
    }

    private func finish(
        _ id: Int, _ work: AuthenticationSession.Work, _ result: Result<IssuedToken?, any Error>
    ) async {
        state.withLock { $0.tasks[id] = nil }
        app()?.diagnostics.ended(work, result)
        switch result {
        case .success(let token?): await succeed(id, work, token)
        case .success(nil):
            let error = FeathersError(.notAuthenticated, "No accessToken found in storage", execution: .neverSent)
            await fail(id, because: error) { $0.foundNothingStored(id) }
        case .failure(let error):
            let (now, random) = (timebase.now, Double.random(in: 0...1))
            await fail(id, because: error, isLogOut: work.hasCredentials) { session in
                session.signInFailed(id, isRejection: error.isRejection)
                    + session.renewalFailed(
                        id, isRejection: error.isRejection, isLost: error.isConnectionLoss, at: now, random: random)
            }
        }
    }

    /// Stores the tokens before any caller learns of the sign-in, so that callers can rely on them.
    private func succeed(_ id: Int, _ work: AuthenticationSession.Work, _ token: IssuedToken) async {
        let (decision, isSignIn): (Int?, Bool) = state.withLock { state in
            let known = state.session.signedIn?.token.result.tokens
            guard state.session.isCurrent(id), known != token.result.tokens else { return (nil, false) }
            return (storage.decide(), known == nil)
        }
        if let decision {
            do {
                try await storage.store(
                    token.result.tokens, of: token.result.storedUser, decision: decision,
                    isSignIn: work.hasCredentials)
            } catch  where isSignIn {
                return await fail(id, because: error) { $0.signInFailed(id, isRejection: false) }
            } catch {
                // The old token may no longer be valid. The new one works at least until this process ends.
            }
        }
        let (now, random) = (timebase.now, Double.random(in: 0...1))
        let effects = state.withLock { state in
            note(
                state.session.signInSucceeded(id, token) + state.session.renewed(id, token, at: now, random: random),
                &state)
        }
        try? await carryOut(effects)
    }

    private func fail(
        _ id: Int, because error: any Error, isLogOut: Bool = false,
        _ event: @Sendable (inout AuthenticationSession) -> [AuthenticationSession.Action]
    ) async {
        let effects = state.withLock { note(event(&$0.session), &$0, because: error, isLogOut: isLogOut) }
        // Callers need the error of the sign-in, not the error of the storage.
        try? await carryOut(effects)
    }

    private func decision(for id: Int) -> Int? { state.withLock { $0.session.isCurrent(id) ? storage.decide() : nil } }
}

// MARK: - Requests of the app

extension Authenticator {
    func signIn(_ credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        try Task.checkCancellation()
        let (id, ended, effects) = state.withLock { state in
            let (id, actions) = state.session.signInRequested(credentials)
            let effects = note(actions, &state)
            return (id, join(id, &state), effects)
        }
        carryOutAtOnce(effects)
        let late = FeathersError(
            .timeout, "The sign-in did not end before the caller's deadline", execution: .mayHaveExecuted)
        let limit = DeadlineScope.bound(nil).map { ($0, late) }
        if let result = try Self.result(of: await wait(for: id, ended, atMost: limit)) { return result }
        throw FeathersError(.conflict, "The sign-in was replaced by a later one")
    }

    /// Returns the result of an attempt for its callers; nil if a later sign-in replaced the attempt.
    private static func result(of end: End) throws -> AuthenticationResult? {
        switch end.outcome {
        case .signedIn(let result): return result
        case .loggedOut: throw FeathersError.loggedOut
        case .failed, .postponed, .nothingStored: throw end.error ?? CancellationError()
        case .superseded: return nil
        }
    }

    func restore(force: Bool) async throws -> AuthenticationResult {
        let passage = try await proceed { state, waited in
            if let end = waited.end { _ = try Self.result(of: end) }
            let (id, actions) = state.session.restoreRequested(force: force && waited.end == nil)
            // Only a signed-in app has no attempt to wait for.
            return (id.map { .wait($0) } ?? .send(state.session.signedIn), actions)
        }
        guard let result = passage?.signedIn?.token.result else { throw FeathersError.loggedOut }
        return result
    }

    var tokenForm: TokenForm { TokenForm(field: options.header, scheme: options.scheme) }
}

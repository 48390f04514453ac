import FeathersCore
import FeathersSupport
import Foundation

/// Signs an app in and keeps it signed in: carries out what the session decides.
///
/// It owns the task of every attempt to sign in or to refresh. Whatever needs the outcome waits for the attempt's promise, so that one caller's
/// cancellation costs the others nothing. A log-out or a later sign-in ends the task, and so does the end of the app, because an attempt holds the
/// app only while it makes a request.
final class Authenticator: Sendable {
    /// An attempt as those who wait for it see it.
    struct Attempt: Sendable {
        let ended = Promise<AttemptEnd>()
        var waiters = 0
        /// Whether its task still has work to do.
        var isRunning = false
        /// Whether a request is on its way that the server may have.
        var isRequesting = false
    }

    struct AttemptEnd: Sendable {
        var outcome: AuthenticationSession.Outcome
        /// Why it failed, if it did.
        var error: (any Error)?

        /// What its callers get; nil if a later sign-in took its place.
        func result() throws -> AuthenticationResult? {
            switch outcome {
            case .signedIn(let result): return result
            case .loggedOut: throw FeathersError.loggedOut
            case .failed, .postponed, .nothingStored: throw error ?? CancellationError()
            case .superseded: return nil
            }
        }
    }

    struct State: Sendable {
        var session: AuthenticationSession
        /// The attempts that have not ended.
        var attempts: [Int: Attempt] = [:]
        /// The tasks of attempts, also of those whose answer no longer counts.
        var tasks: [Int: Task<Void, Never>] = [:]
        /// The number of the sign-in that the app knows of.
        var toldSignIn: Int
        /// The user of the stored token, while a sign-in is under way that may leave that token in place.
        var storedIdentity: Identity?
        /// Resolved by every event, and then replaced.
        var change = Promise<Void>()
        /// Whether the next connection is opened without the token, because the server has refused one with it.
        var leavesOutHandshakeToken = false
        var sentHandshakeToken = false
    }

    /// The authenticator whose attempt this task performs; its calls must not wait for the attempt.
    @TaskLocal static var performing: ObjectIdentifier?

    let options: AuthenticationOptions
    let storage: StoredTokens
    let timebase: RelativeClock
    let state: Locked<State>
    let updates = CurrentValue(AuthenticationState.signedOut)
    /// Whether calls carry the token themselves, rather than rely on the connection.
    let callsCarryCredentials: Bool
    /// The app, unless it has been released: the app holds its authenticator.
    let app: @Sendable () -> FeathersApp?

    init(_ options: AuthenticationOptions, app: FeathersApp) {
        self.options = options
        self.app = { [weak app] in app }
        callsCarryCredentials = app.callsCarryCredentials
        storage = StoredTokens(options.storage, key: options.storageKey)
        timebase = RelativeClock(options.clock)
        let session = AuthenticationSession(keepsConnection: app.transport is any RealTimeTransport)
        state = Locked(State(session: session, toldSignIn: session.signIn))
    }

    deinit {
        for task in state.withLock({ $0.tasks.values }) { task.cancel() }
    }

    /// The user of the stored token, as far as the token tells.
    func storedIdentity() async -> Identity? {
        guard let token = try? await storage.read()?.accessToken else { return nil }
        return UnverifiedPayload(of: token)?.subject.map(Identity.init)
    }

    var current: AuthenticationState { state.withLock { $0.session.state } }

    // MARK: Effects

    /// What remains to be done after an event, once the lock is released.
    struct Effects: Sendable {
        fileprivate var begun: [(id: Int, work: AuthenticationSession.Work)] = []
        fileprivate var settled: [(ended: Promise<AttemptEnd>, end: AttemptEnd)] = []
        fileprivate var cancelled: [Task<Void, Never>] = []
        fileprivate var change: Promise<Void>?
        fileprivate var removal: Int?
        fileprivate var missesEvents = false
    }

    /// Takes note of an event's actions, with the lock held.
    ///
    /// Every event passes here before its effects are carried out, so that the app learns who is signed in before anything is sent or shown in that
    /// name.
    /// - Parameter error: why the attempt failed that ends with this event.
    func note(_ actions: [AuthenticationSession.Action], _ state: inout State, because error: (any Error)? = nil) -> Effects {
        var effects = Effects()
        for action in actions {
            switch action {
            case .begin(let id, let work):
                state.attempts[id, default: Attempt()].isRunning = work != nil
                if let work { effects.begun.append((id, work)) }
            case .settle(let id, let outcome):
                guard let attempt = state.attempts.removeValue(forKey: id) else { continue }
                effects.settled.append((attempt.ended, AttemptEnd(outcome: outcome, error: error)))
                // Only the answer tells whom the server takes the connection for, so a request on its way is not cancelled. It is the last one.
                let isAwaited = attempt.isRequesting && state.session.isConnected
                if let task = state.tasks[id], !isAwaited { effects.cancelled.append(task) }
            case .removeTokens: effects.removal = storage.decide()
            case .publish(let new): updates.enqueue(new)
            }
        }
        effects.change = state.change
        state.change = Promise()
        effects.missesEvents = updateIdentity(&state)
        return effects
    }

    /// Tells the app who is signed in. A refresh changes nothing; a log-out and every sign-in of its own do, even of the same user.
    /// - Returns: whether readers of events are to be told that they have missed some.
    private func updateIdentity(_ state: inout State) -> Bool {
        let isOther = state.session.signIn != state.toldSignIn
        state.toldSignIn = state.session.signIn
        guard let app = app() else { return false }
        let known = app.identity
        let identity: Identity? =
            switch state.session.phase {
            // A user whom the server does not name has an identity of this sign-in only.
            case .signedIn(let signedIn):
                signedIn.name.map(Identity.init) ?? (isOther || known == nil ? Identity("unnamed \(UUID().uuidString)") : known)
            case .authenticating(let attempt): attempt.work == .restore ? known : nil
            // The user of the stored token, which the next call tries.
            case .signedOut(.untried): known ?? state.storedIdentity
            case .signedOut(.none), .expired: nil
            }
        if case .authenticating = state.session.phase {
            state.storedIdentity = known ?? state.storedIdentity
        } else {
            state.storedIdentity = nil
        }
        let isChange = isOther || identity != known
        // What the server pushes may still be meant for the user before.
        if isChange, state.session.keepsConnection { app.pausePushedEvents() }
        if isChange { app.changeIdentity(to: identity) }
        return state.session.pushesAreOwn ? app.resumePushedEvents() : false
    }

    /// Carries out effects. Tokens are removed before anyone learns of the event.
    /// - Throws: why the storage did not remove the tokens; everything else has been done all the same.
    func carryOut(_ effects: Effects) async throws {
        var failure: (any Error)?
        if let removal = effects.removal {
            do { try await storage.remove(decision: removal) } catch { failure = error }
        }
        carryOutAtOnce(effects)
        if let failure { throw failure }
    }

    /// Carries out effects that remove no tokens.
    func carryOutAtOnce(_ effects: Effects) {
        for task in effects.cancelled { task.cancel() }
        // First, so that nothing of the last user is left to be sent when the next sign-in begins.
        app()?.identityChanged()
        for (id, work) in effects.begun { start(id, work) }
        if effects.missesEvents { app()?.pushedEventsMissed() }
        updates.deliver()
        effects.change?.resolve(())
        for (ended, end) in effects.settled { ended.resolve(end) }
    }

    // MARK: Attempts

    /// Starts the task of an attempt, detached because it belongs to all that wait and not to the call that came first.
    private func start(_ id: Int, _ work: AuthenticationSession.Work) {
        let sender = AttemptSender(id: id) { [weak self] in self }
        let requests = SignInRequests(
            options: options, storage: storage, timebase: timebase, decide: { [weak self] in self?.decision(for: id) }, send: sender.send)
        let owner = ObjectIdentifier(self)
        let task = Task.detached { [weak self] in
            let ending = await Self.$performing.withValue(owner) { await requests.perform(work) }
            await self?.finish(id, ending)
        }
        let isWanted = state.withLock { state in
            guard let attempt = state.attempts[id] else { return false }
            if attempt.isRunning { state.tasks[id] = task }
            return true
        }
        // The attempt ended before its task was stored.
        if !isWanted { task.cancel() }
    }

    /// Makes the caller one of those who wait for an attempt; called with the lock held.
    func join(_ id: Int, _ state: inout State) -> Promise<AttemptEnd> {
        state.attempts[id]?.waiters += 1
        if let ended = state.attempts[id]?.ended { return ended }
        let ended = Promise<AttemptEnd>()
        ended.resolve(AttemptEnd(outcome: .superseded))
        return ended
    }

    /// Waits for the end of an attempt that the caller has joined.
    /// - Parameter limit: how long to wait, and what to throw then.
    /// - Throws: `CancellationError` when the task is cancelled; the attempt goes on for the others.
    func wait(
        for id: Int, _ ended: Promise<AttemptEnd>, atMost limit: (time: Duration, error: FeathersError)? = nil
    ) async throws -> AttemptEnd {
        defer { leave(id) }
        guard let limit else { return try await ended.value() }
        return try await timebase.run(atMost: limit.time, orThrow: limit.error) { try await ended.value() }
    }

    private func leave(_ id: Int) {
        let effects: Effects? = state.withLock { state in
            guard let attempt = state.attempts[id] else { return nil }
            state.attempts[id]?.waiters -= 1
            guard attempt.waiters <= 1 else { return nil }
            return note(state.session.attemptAbandoned(id), &state, because: CancellationError())
        }
        if let effects { carryOutAtOnce(effects) }
    }

    private func finish(_ id: Int, _ ending: SignInRequests.Ending) async {
        state.withLock { state in
            state.tasks[id] = nil
            state.attempts[id]?.isRunning = false
        }
        switch ending {
        case .token(let token): await succeed(id, token)
        case .nothingStored:
            let error = FeathersError(.notAuthenticated, "No accessToken found in storage", execution: .neverSent)
            await fail(because: error) { $0.foundNothingStored(id) }
        case .failed(let error):
            let now = timebase.now
            await fail(because: error) { session in
                session.signInFailed(id, isRejection: error.isRejection)
                    + session.refreshFailed(id, isRejection: error.isRejection, at: now)
            }
        }
    }

    /// Stores the tokens, and only then lets anyone know of the sign-in: they can rely on the tokens.
    private func succeed(_ id: Int, _ token: IssuedToken) async {
        let (decision, isSignIn): (Int?, Bool) = state.withLock { state in
            guard state.session.isCurrent(id) else { return (nil, false) }
            return (storage.decide(), state.session.signedIn == nil)
        }
        if let decision {
            do {
                try await storage.store(token.result.tokens, decision: decision)
            } catch  where isSignIn {
                return await fail(because: error) { session in
                    session.connectionAuthenticated(token)
                    return session.signInFailed(id, isRejection: false)
                }
            } catch {
                // The old token may be worth nothing any more. The new one serves at least as long as this process lives.
            }
        }
        let effects = state.withLock { state in
            let isRefresh = state.session.signedIn?.renewal?.id == id
            return note(isRefresh ? state.session.refreshSucceeded(id, token) : state.session.signInSucceeded(id, token), &state)
        }
        try? await carryOut(effects)
    }

    private func fail(because error: any Error, _ event: @Sendable (inout AuthenticationSession) -> [AuthenticationSession.Action]) async {
        let effects = state.withLock { state in note(event(&state.session), &state, because: error) }
        // The failure to tell is the sign-in's, not the storage's.
        try? await carryOut(effects)
    }

    private func decision(for id: Int) -> Int? { state.withLock { $0.session.isCurrent(id) ? storage.decide() : nil } }
}

// MARK: - What the app asks for

extension Authenticator {
    func signIn(_ credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        try Task.checkCancellation()
        let (id, ended, effects) = state.withLock { state in
            let (id, actions) = state.session.signInRequested(credentials)
            let effects = note(actions, &state)
            return (id, join(id, &state), effects)
        }
        carryOutAtOnce(effects)
        if let result = try await wait(for: id, ended).result() { return result }
        throw FeathersError(.conflict, "Another sign-in took the place of this one")
    }

    func restore(force: Bool) async throws -> AuthenticationResult {
        var force = force
        while true {
            try Task.checkCancellation()
            let (attempt, result, effects) = state.withLock { state in
                let (id, actions) = state.session.restoreRequested(force: force)
                let effects = note(actions, &state)
                return (id.map { ($0, join($0, &state)) }, state.session.signedIn?.token.result, effects)
            }
            carryOutAtOnce(effects)
            guard let (id, ended) = attempt else {
                // There is nothing to do only if the app is signed in.
                if let result { return result }
                continue
            }
            if let result = try await wait(for: id, ended).result() { return result }
            force = false
        }
    }

    func headerValue(_ accessToken: String) -> String { options.scheme.isEmpty ? accessToken : "\(options.scheme) \(accessToken)" }
}

extension FeathersError {
    static var loggedOut: FeathersError {
        FeathersError(.notAuthenticated, "The app logged out while this waited for the sign-in", execution: .neverSent)
    }
}

extension Error {
    /// Whether the server has refused. Like FeathersJS' client, this takes the codes between 400 and 408 for a refusal.
    var isRejection: Bool {
        guard let error = self as? FeathersError, error.execution == .answered else { return false }
        return (401...407).contains(error.code.rawValue)
    }

    /// Whether a request failed because there is no connection any more.
    var isConnectionLoss: Bool { (self as? FeathersError)?.code == .unavailable && !isAnswer }

    /// Whether this is the server's answer, rather than the lack of one.
    var isAnswer: Bool { (self as? FeathersError)?.execution == .answered }
}

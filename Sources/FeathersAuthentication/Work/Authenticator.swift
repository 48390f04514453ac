import FeathersCore
import FeathersSupport

/// Signs an app in, keeps it signed in and lets its calls wait for that: the session's rules put into practice.
///
/// It knows neither app nor transport, so that they can be released; what needs one of them is handed it.
final class Authenticator: Sendable {
    /// How shared work ended, as those who waited see it.
    struct WorkOutcome: Sendable {
        var outcome: AuthenticationSession.Outcome
        /// Why, where it failed.
        var error: (any Error)?
    }

    /// How work under way is taken out of a performer's hands.
    struct Interruption: Sendable {
        let request = Promise<Void>()
        /// The performer sends nothing any more.
        let end = Promise<Void>()
    }

    typealias Waiter = CheckedContinuation<WorkTurn<WorkOutcome>, any Error>
    typealias Send = ConnectionSetup.Send

    struct State: Sendable {
        var session: AuthenticationSession
        var work = SharedWork<Waiter, WorkOutcome>()
        /// What the explicit sign-ins under way are made with.
        var credentials: [Int: AuthenticationCredentials] = [:]
        /// Told when a performance is taken over.
        var interruptions: [Int: Interruption] = [:]
        var runner = Runner()
        /// Told of every event, and then replaced.
        var change = Promise<Void>()
        /// Whether the headers of the next connection go without the token, since the server has refused one with it.
        var leavesOutHandshakeToken = false
        var sentHandshakeToken = false
        var nextWaiterID = 0
    }

    /// Whether this task is the one that signs in, so that it must not wait for the sign-in.
    @TaskLocal static var isPerforming = false

    let options: AuthenticationOptions
    let storage: StoredTokens
    let timebase: RelativeClock
    let state: Locked<State>
    let updates = CurrentValue(AuthenticationState.signedOut)

    init(_ options: AuthenticationOptions, keepsConnection: Bool) {
        self.options = options
        storage = StoredTokens(
            options.storage, key: options.storageKey, refreshKey: options.refreshStorageKey ?? "\(options.storageKey)-refresh")
        timebase = RelativeClock(options.clock)
        state = Locked(State(session: AuthenticationSession(keepsConnection: keepsConnection)))
    }

    /// The sign-in of now.
    var current: AuthenticationState { state.withLock { $0.session.state } }

    /// What is left to do of an event once the lock is released.
    struct Effects: Sendable {
        fileprivate var settled: [(waiters: [Waiter], outcome: WorkOutcome)] = []
        fileprivate var change: Promise<Void>?
        fileprivate var removal: Int?
    }

    /// Lets the session take note of an event, and of what follows at once; called with the lock held.
    /// - Parameter error: why work failed that ends with this.
    func note(_ actions: [AuthenticationSession.Action], _ state: inout State, because error: (any Error)? = nil) -> Effects {
        var effects = Effects()
        for action in actions {
            switch action {
            case .open(let id): state.work.open(id, isForConnection: state.session.isAnnouncing)
            case .settle(let id, let outcome):
                state.credentials[id] = nil
                let outcome = WorkOutcome(outcome: outcome, error: error)
                effects.settled.append((state.work.settle(id, outcome), outcome))
            case .removeTokens: effects.removal = storage.decide()
            case .publish(let new): updates.enqueue(new)
            }
        }
        effects.change = state.change
        state.change = Promise()
        return effects
    }

    /// Does what an event left to do. Tokens are gone before anybody learns that they are to be.
    /// - Throws: why the storage did not remove the tokens; everything else has been done all the same.
    func carryOut(_ effects: Effects) async throws {
        var failure: (any Error)?
        if let removal = effects.removal {
            do { try await storage.remove(decision: removal) } catch { failure = error }
        }
        carryOutAtOnce(effects)
        if let failure { throw failure }
    }

    /// Does what an event left to do, where no tokens are to be removed.
    func carryOutAtOnce(_ effects: Effects) {
        updates.deliver()
        effects.change?.resolve(())
        for (waiters, outcome) in effects.settled {
            for waiter in waiters { waiter.resume(returning: .over(outcome)) }
        }
    }
}

extension AuthenticationSession {
    /// Whether the work under way is for the connection's own to do.
    fileprivate var isAnnouncing: Bool { signedIn?.renewal?.stage == .announcing }
}

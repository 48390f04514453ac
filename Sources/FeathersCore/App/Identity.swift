import FeathersJSON
import FeathersSupport
import Foundation
import Synchronization

/// A stable name for the user who is signed in to an app, without secrets.
///
/// Caches, shared reads, live queries and the outbox keep the data of different identities separate.
public struct Identity: Sendable, Hashable, CustomStringConvertible {
    /// The name: the `sub` of the access token, or otherwise the user's id. It is unique to each user and the same in
    /// every process.
    public let name: String

    /// Creates an identity. The name is stored in caches and outboxes, so it must not contain secrets.
    public init(_ name: String) {
        self.name = name
    }

    public var description: String { name }

    /// Compares the bytes of the names, as servers do. To Swift, a composed and a decomposed "é" are equal.
    public static func == (left: Identity, right: Identity) -> Bool { left.name.isExactly(right.name) }

    public func hash(into hasher: inout Hasher) { name.hashExactly(into: &hasher) }
}

extension FeathersApp {
    /// The user who is signed in; nil if there is none.
    ///
    /// It changes before anything is sent or shown for the new user. At launch, it is nil until the stored token has
    /// been read, which happens when the app starts running or makes its first call.
    public var identity: Identity? { identityStore.sender.identity }

    /// Returns the user who is signed in, followed by every change.
    public func identityUpdates() -> AsyncStream<Identity?> { identityStore.updates() }

    /// Sets the signed-in user of an app that authenticates its calls itself, for example with a hook that sets header
    /// fields.
    ///
    /// Call this method before the first call as the new user. `use(authentication:)` does so automatically.
    /// - Parameters:
    ///   - identity: The new user; nil if no user is signed in.
    ///   - user: The user's record, for ``user(of:)``.
    public func setIdentity(_ identity: Identity?, user: JSONValue? = nil) {
        identityStore.setUser(user, of: identity)
        changeIdentity(to: identity)
        identityChanged()
    }

    /// Whether requests belong to the user who is signed in when they are made. With authentication, the sign-in gate
    /// decides.
    var recordsSender: Bool { tokenForm == nil }

    /// Returns the user who is signed in, after the stored token has been read.
    package func resolvedIdentity() async -> Identity? { await resolvedSender().identity }

    /// Returns the sender of requests that bypass the sign-in gate, after the stored token has been read.
    package func resolvedSender() async -> RequestSender { await identityStore.resolved() }

    /// The sender of requests that bypass the sign-in gate.
    package var currentSender: RequestSender { identityStore.sender }

    /// Calls a function with the current identity, and after every sign-in and log-out, in order. The function must not
    /// change the identity.
    package func observeIdentity(_ observer: @escaping @Sendable (Identity?) -> Void) {
        identityStore.observe(observer)
    }

    /// Sets the function that finds out who was signed in when the app last ran.
    package func resolveIdentity(with resolver: @escaping @Sendable () async -> Identity?) {
        identityStore.install(resolver)
    }

    /// Starts a new sign-in. Unsent requests of the previous one are never sent. Call this method where the order of
    /// sign-ins is determined, even with a lock held, and call ``identityChanged()`` after releasing the lock.
    /// - Returns: The sender of future requests.
    @discardableResult
    package func changeIdentity(to identity: Identity?) -> RequestSender { identityStore.change(to: identity) }

    /// Sets whether pushed events are for the signed-in user, or for everyone if no user is signed in. Other events are
    /// dropped. Call it before the identity changes.
    package func deliversPushedEvents(_ isTrue: Bool) {
        serviceRegistry.deliversPushes.store(isTrue, ordering: .sequentiallyConsistent)
    }

    /// Delivers a gap to the subscribers because events were dropped.
    package func pushedEventsMissed() { serviceRegistry.emitGap(.reconnected) }

    /// Notifies the subscribers, and discards unsent requests of earlier sign-ins.
    package func identityChanged() {
        identityStore.deliver()
        guard identityStore.takeGap() else { return }
        // The events of the old connection are those of the previous user.
        transport?.component((any ReopeningTransport).self)?.reopen()
        for transport in transport?.innermost ?? [] {
            (transport as? any CallQueueing)?.failUnsentCalls { !$0.isCurrent }
        }
        serviceRegistry.emitGap(.identityChanged, for: identityStore.sender)
    }
}

/// A sign-in. All requests made in it share the same object, so passing it on costs only a reference.
package final class RequestSender: Sendable, Hashable {
    package let identity: Identity?
    /// Whether the app began with this object, so that no user has signed in or out before.
    package let isFirst: Bool
    private let isEnded = Atomic(false)
    private let departure = Promise<Void>()

    package init(_ identity: Identity?, isFirst: Bool = false) {
        (self.identity, self.isFirst) = (identity, isFirst)
    }

    /// Whether this is still the app's sign-in. A token refresh does not end it; log-out and the next sign-in do, even
    /// if the same user returns.
    package var isCurrent: Bool { !isEnded.load(ordering: .acquiring) }

    /// Returns when the sign-in has ended and the observers know.
    /// - Throws: `CancellationError` if the task was cancelled.
    package func ended() async throws { try await departure.value() }

    func end() { isEnded.store(true, ordering: .releasing) }

    func notify() { departure.resolve(()) }

    package static func == (left: RequestSender, right: RequestSender) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ServiceRequest {
    /// Records the user to whom the request belongs. A hook of the first call may sign in. So before the first sign-in,
    /// the user is recorded only when the request is sent.
    mutating func recordSender(of app: FeathersApp?, whenSent: Bool = false) {
        guard sender == nil, let app else { return }
        let current = app.currentSender
        if whenSent || !current.isFirst { sender = current }
    }
}

/// The user of an app, with a defined order of changes.
final class IdentityStore: Sendable {
    private struct State {
        var sender = RequestSender(nil, isFirst: true)
        /// Finds out who was signed in last; nil once that is known.
        var resolver: (@Sendable () async -> Identity?)?
        var hasChanged = false
        /// The sign-ins that have ended, but whose end has not been announced yet.
        var ended: [RequestSender] = []
        /// Whether subscribers must still be notified of a sign-in or log-out. Reading the stored user does not count.
        var needsGap = false
        var observers: [@Sendable (Identity?) -> Void] = []
        /// The record of the user who signed in last.
        var user: (record: JSONValue, identity: Identity)?
        var userObservers: [@Sendable () -> Void] = []

        /// The record of the user who is signed in; nil if it is not known.
        var currentUser: JSONValue? {
            // Not `nil`, which would be JSON null here.
            guard let user, user.identity == sender.identity else { return .none }
            return user.record
        }
    }

    /// Held while observers are notified, so that their last notification is the latest state.
    private let turn = NSLock()
    private let state = Locked(State())
    private let current = CurrentValue<Identity?>(nil)
    private let currentUser = CurrentValue<JSONValue?>(nil)
    private let resolving = SingleFlight<Bool, Void>()

    var sender: RequestSender { state.withLock { $0.sender } }

    func updates() -> AsyncStream<Identity?> { current.updates() }

    func install(_ resolver: @escaping @Sendable () async -> Identity?) {
        state.withLock { $0.resolver = resolver }
    }

    func resolved() async -> RequestSender {
        if let resolver = state.withLock({ $0.resolver }) {
            try? await resolving.value(of: true) {
                let identity = await resolver()
                state.withLock { state in
                    // A sign-in that happened in the meantime takes precedence.
                    guard state.resolver != nil else { return }
                    state.resolver = nil
                    guard let identity else { return }
                    set(identity, in: &state)
                }
            }
            deliver()
        }
        return sender
    }

    func observe(_ observer: @escaping @Sendable (Identity?) -> Void) {
        turn.withLock {
            state.withLock { $0.observers.append(observer) }
            observer(sender.identity)
        }
    }

    /// The sign-in, with the record of its user; nil if that is not known.
    var signedIn: (sender: RequestSender, user: JSONValue?) { state.withLock { ($0.sender, $0.currentUser) } }

    func userUpdates() -> AsyncStream<JSONValue?> { currentUser.updates() }

    /// Sets the record of a user, who is signed in or signs in next.
    /// - Parameters:
    ///   - record: The record; nil if there is none.
    ///   - identity: The user; nil to forget any record.
    func setUser(_ record: JSONValue?, of identity: Identity?) {
        state.withLock { state in
            state.user = identity.flatMap { identity in record.map { ($0, identity) } }
            enqueueUser(state)
        }
    }

    /// Calls a function after every change of the user or the user's record.
    func observeUser(_ observer: @escaping @Sendable () -> Void) {
        state.withLock { $0.userObservers.append(observer) }
    }

    private func enqueueUser(_ state: State) {
        if state.currentUser != currentUser.current { currentUser.enqueue(state.currentUser) }
    }

    func change(to identity: Identity?) -> RequestSender {
        state.withLock { state in
            state.resolver = nil
            state.needsGap = true
            set(identity, in: &state)
            return state.sender
        }
    }

    /// Notifies the observers of a change, unless they were already notified.
    func deliver() {
        turn.withLock {
            let (hasChanged, observers) = state.withLock { state in
                defer { state.hasChanged = false }
                return (state.hasChanged, state.observers)
            }
            if hasChanged { for observer in observers { observer(sender.identity) } }
        }
        current.deliver()
        currentUser.deliver()
        let (ended, userObservers) = state.withLock { state in
            defer { state.ended = [] }
            return (state.ended, state.userObservers)
        }
        for observer in userObservers { observer() }
        for sender in ended { sender.notify() }
    }

    /// - Returns: Whether to deliver a gap for a change of user; true once for each change.
    func takeGap() -> Bool {
        state.withLock { state in
            defer { state.needsGap = false }
            return state.needsGap
        }
    }

    private func set(_ identity: Identity?, in state: inout State) {
        let isOther = state.sender.identity != identity
        state.sender.end()
        state.ended.append(state.sender)
        state.sender = RequestSender(identity)
        state.hasChanged = true
        if isOther { current.enqueue(identity) }
        enqueueUser(state)
    }
}

import FeathersSupport
import Foundation
import Synchronization

/// Who is signed in to an app: a stable name without secrets.
///
/// Caches, shared reads, live queries and the outbox keep what belongs to one identity apart from every other.
public struct Identity: Sendable, Hashable, CustomStringConvertible {
    /// The name: the `sub` of the access token, or else the user's id. It differs from user to user and is the same in every process.
    public let name: String

    /// Creates an identity. Its name is written to caches and outboxes, so it must not contain secrets.
    public init(_ name: String) {
        self.name = name
    }

    public var description: String { name }
}

extension FeathersApp {
    /// Who is signed in; nil for no one.
    ///
    /// It changes before anything is sent or shown in the new name. At start it is nil until the stored token has been read, which happens when
    /// the app starts running or with the first call.
    public var identity: Identity? { identityStore.sender.identity }

    /// Who is signed in, and then every change.
    public func identityUpdates() -> AsyncStream<Identity?> { identityStore.updates() }

    /// Says who is signed in, in an app that authenticates its calls itself, with a hook that sets headers for example.
    ///
    /// Call it before the first call in the new name. `use(authentication:)` does this by itself.
    /// - Parameter identity: the user from now on; nil for no one.
    public func setIdentity(_ identity: Identity?) {
        changeIdentity(to: identity)
        identityChanged()
    }

    /// Who is signed in, once the stored token has been read.
    package func resolvedIdentity() async -> Identity? { await resolvedSender().identity }

    /// Whom requests are made as that pass no sign-in gate, once the stored token has been read.
    package func resolvedSender() async -> RequestSender { await identityStore.resolved() }

    /// Whom requests are made as that pass no sign-in gate.
    package var currentSender: RequestSender { identityStore.sender }

    /// Calls a function with the identity of now, and after every sign-in and sign-out, in their order. It must not change the identity.
    package func observeIdentity(_ observer: @escaping @Sendable (Identity?) -> Void) { identityStore.observe(observer) }

    /// Tells how to find out who was signed in when the app last ran.
    package func resolveIdentity(with resolver: @escaping @Sendable () async -> Identity?) { identityStore.install(resolver) }

    /// Begins a sign-in: what was made in the one before and has not been sent will not be. To be called where the order of sign-ins is decided, also
    /// with a lock held; ``identityChanged()`` follows outside of it.
    /// - Returns: the sender of the requests to come.
    @discardableResult
    package func changeIdentity(to identity: Identity?) -> RequestSender { identityStore.change(to: identity) }

    /// Keeps what the server pushes from the readers of events: its connection is still, or may be, another user's. To be called before the identity changes.
    package func pausePushedEvents() { registry.pausePushes() }

    /// Lets the readers have what the server pushes: its connection is the signed-in user's now, or no one's.
    /// - Returns: whether events were kept from them, which ``pushedEventsMissed()`` is to tell them outside of all locks.
    package func resumePushedEvents() -> Bool { registry.resumePushes() }

    /// Tells the readers that they have missed events.
    package func pushedEventsMissed() { registry.emitGap(.reconnected) }

    /// Tells the readers, and lets go of what waits to be sent in an earlier sign-in.
    package func identityChanged() {
        identityStore.deliver()
        guard identityStore.takeGap() else { return }
        for transport in transport?.innermost ?? [] { (transport as? any CallQueueing)?.failUnsentCalls { !$0.isCurrent } }
        registry.emitGap(.identityChanged, for: identityStore.sender)
    }
}

/// A sign-in, as the requests that are made in it carry it. The same object for all of them, so that handing it on costs a reference.
package final class RequestSender: Sendable, Hashable {
    package let identity: Identity?
    private let isEnded = Atomic(false)

    package init(_ identity: Identity?) {
        self.identity = identity
    }

    /// Whether this is still the app's sign-in. A token refresh does not change it; log-out and the next sign-in do, even if the same user returns.
    package var isCurrent: Bool { !isEnded.load(ordering: .acquiring) }

    func end() { isEnded.store(true, ordering: .releasing) }

    package static func == (left: RequestSender, right: RequestSender) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Who is signed in to an app, and the order in which that changes.
final class IdentityStore: Sendable {
    private struct State {
        var sender = RequestSender(nil)
        /// How to find out who was signed in last; nil once that is known.
        var resolver: (@Sendable () async -> Identity?)?
        var hasChanged = false
        /// Whether readers of events are still to be told of a sign-in or sign-out. Finding out who is stored is neither.
        var needsGap = false
        var observers: [@Sendable (Identity?) -> Void] = []
    }

    /// Held while observers are told, so that what they are told last is what is true last.
    private let turn = NSLock()
    private let state = Locked(State())
    private let current = CurrentValue<Identity?>(nil)
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
                    // A sign-in that came first knows better.
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

    func change(to identity: Identity?) -> RequestSender {
        state.withLock { state in
            state.resolver = nil
            state.needsGap = true
            set(identity, in: &state)
            return state.sender
        }
    }

    /// Tells the observers of a change, if they have not been told.
    func deliver() {
        turn.withLock {
            let (hasChanged, observers) = state.withLock { state in
                defer { state.hasChanged = false }
                return (state.hasChanged, state.observers)
            }
            if hasChanged { for observer in observers { observer(sender.identity) } }
        }
        current.deliver()
    }

    /// - Returns: whether the gap of a change of user is due; once for each change.
    func takeGap() -> Bool {
        state.withLock { state in
            defer { state.needsGap = false }
            return state.needsGap
        }
    }

    private func set(_ identity: Identity?, in state: inout State) {
        let isOther = state.sender.identity != identity
        state.sender.end()
        state.sender = RequestSender(identity)
        state.hasChanged = true
        if isOther { current.enqueue(identity) }
    }
}

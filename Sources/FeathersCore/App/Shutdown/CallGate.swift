import FeathersSupport
import Synchronization

/// Counts the calls of an app that are under way, and lets none begin once the app shuts down.
final class CallGate: Sendable {
    /// The gate of the call this task is in: what its hooks, or a service of this process, call in turn belongs to it.
    @TaskLocal static var entered: CallGate?

    private struct State {
        var orders = Promise<ShutdownOrder>()
        /// The calls that nothing else would end.
        var abandonable: [ObjectIdentifier: AbandonableCall] = [:]
        var emptied = Promise<Void>()
        var isFinished = false
    }

    private static let closed = 1 << (Int.bitWidth - 2)

    /// How many calls are under way, with the highest bit set once the gate is closed: every call asks, so that asking must cost next to nothing.
    private let count = Atomic<Int>(0)
    private let state = Locked(State())

    /// How many calls are under way.
    var underWay: Int { count.load(ordering: .acquiring) & ~Self.closed }

    /// Whether calls may not begin any more.
    var isClosed: Bool { count.load(ordering: .acquiring) & Self.closed != 0 }

    /// Whether the app has been shut down, rather than being about it.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Lets a call in, which must ``leave()``.
    /// - Returns: false where none may begin any more; then nothing is to be left.
    func enter() -> Bool {
        guard count.add(1, ordering: .acquiringAndReleasing).oldValue & Self.closed != 0 else { return true }
        if Self.entered === self { return true }
        leave()
        return false
    }

    func leave() {
        guard count.subtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed else { return }
        state.withLock { $0.emptied }.resolve(())
    }

    /// Lets no call begin from now on; only the first order counts.
    func close(_ order: ShutdownOrder) {
        count.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing)
        state.withLock { $0.orders }.resolve(order)
    }

    /// Lets calls begin again after a shutdown that has come to its end; one that has not goes on.
    func reopen() {
        let isOpened = state.withLock { state in
            guard state.isFinished else { return false }
            state = State()
            return true
        }
        if isOpened { count.bitwiseAnd(~Self.closed, ordering: .acquiringAndReleasing) }
    }

    /// The order to shut down, once there is one.
    /// - Throws: `CancellationError` when the task is cancelled.
    func order() async throws -> ShutdownOrder {
        try await state.withLock { $0.orders }.value()
    }

    /// Suspends until no call is under way.
    /// - Throws: `CancellationError` when the task is cancelled.
    func waitUntilEmpty() async throws {
        while true {
            let emptied = state.withLock { state in
                if state.emptied.isSettled { state.emptied = Promise() }
                return state.emptied
            }
            if underWay == 0 { return }
            try await emptied.value()
        }
    }

    /// Fails what is under way and can be failed from here.
    func finish() {
        let abandoned = state.withLock { state in
            state.isFinished = true
            defer { state.abandonable = [:] }
            return state.abandonable.values
        }
        for call in abandoned { call.abandon() }
    }

    /// Has a call end with the app, until it is removed.
    /// - Returns: false where the app has ended.
    func add(_ call: AbandonableCall) -> Bool {
        state.withLock { state in
            guard !state.isFinished else { return false }
            state.abandonable[ObjectIdentifier(call)] = call
            return true
        }
    }

    func remove(_ call: AbandonableCall) {
        _ = state.withLock { $0.abandonable.removeValue(forKey: ObjectIdentifier(call)) }
    }
}

/// Until when calls that are under way may finish.
struct ShutdownOrder: Sendable {
    let deadline: Duration
    let timebase: RelativeClock
}

import FeathersSupport
import Synchronization

extension FeathersApp {
    /// Ends the app in order: no call begins any more, those in flight finish, then the connection closes and ``run()`` returns.
    ///
    /// A call that comes too late throws ``FeathersError/Code/unavailable`` and was never sent. Calls that a call in flight makes, from its hooks or from a
    /// service of this process, belong to it. Calls that have not finished in time are ended where they are on their way: HTTP requests and calls over
    /// connections, those of endpoints and of registered ``TransportService``s too. Code of a service in this process cannot be ended from outside.
    /// Running or connecting again lets calls in again.
    /// - Parameter limit: how long calls in flight may take; of several shutdowns at once the first one's counts.
    /// - Returns: how many calls had not finished in time.
    @discardableResult
    public func shutDown(within limit: Duration) async -> Int { await shutDown(within: limit, clock: ContinuousClock()) }

    @discardableResult
    package func shutDown(within limit: Duration, clock: any Clock<Duration>) async -> Int {
        beginShutdown(within: limit, clock: clock)
        // The order has been given by now; a cancelled caller does not wait.
        guard let order = try? await gate.order() else { return gate.inFlight }
        return await finish(order)
    }

    /// Begins what ``shutDown(within:)`` does and returns at once, for handlers that must not wait. ``run()`` completes it, even if it has yet to begin.
    public func beginShutdown(within limit: Duration) { beginShutdown(within: limit, clock: ContinuousClock()) }

    package func beginShutdown(within limit: Duration, clock: any Clock<Duration>) {
        let clock = RelativeClock(clock)
        gate.close(ShutdownOrder(deadline: clock.now + limit, clock: clock))
        noteHealth()
    }

    /// Runs a body whose calls belong to calls in flight, although they are made elsewhere.
    package func onBehalfOfCalls<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await CallGate.$entered.withValue(gate, operation: body)
    }

    /// Runs a call over a transport of its own, which is told to end its calls when the app has shut down.
    package func using<Result>(_ transport: any Transport, _ body: () async throws -> Result) async rethrows -> Result {
        let id = gate.hold(transport)
        defer { gate.release(id) }
        return try await body()
    }

    /// Waits for the calls in flight, or for the end of the time they have, and ends the rest.
    @discardableResult
    func finish(_ order: ShutdownOrder) async -> Int {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [gate] in try? await gate.waitUntilEmpty() }
            group.addTask { try? await order.clock.sleep(until: order.deadline) }
            await group.next()
            group.cancelAll()
        }
        let left = gate.inFlight
        gate.finish()
        transport?.endCalls()
        for transport in gate.heldTransports { transport.endCalls() }
        for (_, entry) in registry.registered {
            if let service = await entry.service.implementation as? TransportService { service.transport.endCalls() }
        }
        await lifetime.endConnection(of: self)
        noteHealth()
        return left
    }
}

extension FeathersError {
    /// A call of an app that accepts none any more.
    static func shuttingDown(_ request: ServiceRequest) -> FeathersError {
        FeathersError(
            .unavailable, "The app is shutting down: '\(request.method)' of '\(request.path)' was not made", execution: .neverSent)
    }
}

/// Counts the calls of an app that are in flight, and lets none begin once the app shuts down.
final class CallGate: Sendable {
    /// The gate of the call this task is in: what its hooks, or a service of this process, call belongs to it.
    @TaskLocal static var entered: CallGate?

    private struct State {
        var orders = Promise<ShutdownOrder>()
        var emptied = Promise<Void>()
        /// The transports of calls that do not go over the app's own.
        var transports: [Int: any Transport] = [:]
        var lastID = 0
    }

    private static let closed = 1 << (Int.bitWidth - 2)
    private static let finished = 1 << (Int.bitWidth - 3)

    /// How many calls are in flight, with two bits for the state: every call asks, so that asking must cost next to nothing.
    private let count = Atomic<Int>(0)
    private let state = Locked(State())

    /// How many calls are in flight.
    var inFlight: Int { count.load(ordering: .acquiring) & (Self.finished - 1) }

    /// Whether calls can no longer begin.
    var isClosed: Bool { count.load(ordering: .acquiring) & Self.closed != 0 }

    /// Whether the shutdown is over, so that calls in flight can no longer be sent either.
    var isFinished: Bool { count.load(ordering: .acquiring) & Self.finished != 0 }

    /// Lets a call in, which must ``leave()``.
    /// - Returns: false if no call may begin any more; then ``leave()`` must not be called.
    func enter() -> Bool {
        guard count.add(1, ordering: .acquiringAndReleasing).oldValue & Self.closed != 0 else { return true }
        if Self.entered === self { return true }
        leave()
        return false
    }

    func leave() {
        let now = count.subtract(1, ordering: .acquiringAndReleasing).newValue
        guard now & Self.closed != 0, now & (Self.finished - 1) == 0 else { return }
        state.withLock { $0.emptied }.resolve(())
    }

    /// Lets no call begin from now on; only the first order counts.
    func close(_ order: ShutdownOrder) {
        count.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing)
        state.withLock { $0.orders }.resolve(order)
    }

    /// Ends the shutdown: what is still in flight can no longer be sent.
    func finish() {
        count.bitwiseOr(Self.finished, ordering: .acquiringAndReleasing)
    }

    /// Lets calls begin again after a shutdown that has ended; one that has not goes on.
    func reopen() {
        guard isFinished else { return }
        state.withLock { ($0.orders, $0.emptied) = (Promise(), Promise()) }
        count.bitwiseAnd(~(Self.closed | Self.finished), ordering: .acquiringAndReleasing)
    }

    /// The order to shut down, once there is one.
    /// - Throws: `CancellationError` when the task is cancelled.
    func order() async throws -> ShutdownOrder {
        try await state.withLock { $0.orders }.value()
    }

    /// Suspends until no call is in flight.
    /// - Throws: `CancellationError` when the task is cancelled.
    func waitUntilEmpty() async throws {
        while true {
            let emptied = state.withLock { state in
                if state.emptied.isSettled { state.emptied = Promise() }
                return state.emptied
            }
            if inFlight == 0 { return }
            try await emptied.value()
        }
    }

    func hold(_ transport: any Transport) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.transports[state.lastID] = transport
            return state.lastID
        }
    }

    func release(_ id: Int) {
        _ = state.withLock { $0.transports.removeValue(forKey: id) }
    }

    var heldTransports: [any Transport] { state.withLock { Array($0.transports.values) } }
}

/// Until when calls in flight may finish.
struct ShutdownOrder: Sendable {
    let deadline: Duration
    let clock: RelativeClock
}

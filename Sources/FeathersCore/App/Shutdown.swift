import FeathersSupport
import Synchronization

extension FeathersApp {
    /// Shuts the app down in order: rejects new calls, waits for calls in flight, closes the connection, and ends
    /// ``run()``.
    ///
    /// New calls throw ``FeathersError/Code/unavailable`` and are never sent. Calls made by a call in flight, from its
    /// hooks or from a local service, count as part of it. Calls that exceed the time limit are ended in the transport:
    /// HTTP requests and calls over connections, including those of endpoints and registered transports. The code of a
    /// local service cannot be ended from outside. Running or connecting the app again allows new calls.
    /// - Parameter limit: The time limit for calls in flight. If several shutdowns overlap, the first one's limit
    ///   applies.
    /// - Returns: The number of calls that did not finish in time.
    @discardableResult
    public func shutDown(within limit: Duration) async -> Int {
        await shutDown(within: limit, clock: ContinuousClock())
    }

    @discardableResult
    package func shutDown(within limit: Duration, clock: any Clock<Duration>) async -> Int {
        beginShutdown(within: limit, clock: clock)
        // The shutdown has already been ordered, so a cancelled caller does not wait.
        guard let order = try? await callGate.order() else { return callGate.inFlight }
        return await finishShutdown(order)
    }

    /// Starts ``shutDown(within:)`` without waiting, for handlers that must not wait. ``run()`` completes the shutdown,
    /// even if it starts later.
    /// - Parameters:
    ///   - delay: How long the app makes new calls after it is no longer ready (see ``AppHealth``), so that a load
    ///     balancer can notice and send requests elsewhere.
    ///   - limit: The time limit for calls in flight after that.
    public func beginShutdown(after delay: Duration = .zero, within limit: Duration) {
        beginShutdown(after: delay, within: limit, clock: ContinuousClock())
    }

    package func beginShutdown(after delay: Duration = .zero, within limit: Duration, clock: any Clock<Duration>) {
        let clock = RelativeClock(clock)
        let closing = clock.now + max(delay, .zero)
        callGate.announce(
            ShutdownOrder(closing: closing, deadline: closing + limit, clock: clock), closes: delay <= .zero)
        noteHealth()
    }

    /// Runs a body whose calls count as part of calls in flight, although they are made elsewhere.
    package func onBehalfOfCalls<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await CallGate.$entered.withValue(callGate, operation: body)
    }

    /// Runs a call over its own transport, which is told to end its calls at the end of the shutdown.
    package func holdingTransport<Result>(_ transport: any Transport, _ body: () async throws -> Result) async rethrows
        -> Result
    {
        let hold = holdTransport(transport)
        defer { withExtendedLifetime(hold) {} }
        return try await body()
    }

    /// Registers a transport that must end its calls at the end of the shutdown, for as long as the returned object
    /// exists.
    package func holdTransport(_ transport: any Transport) -> TransportHold { TransportHold(transport, at: callGate) }

    /// Returns when the app makes no more calls.
    /// - Throws: `CancellationError` if the task is cancelled.
    package func shutDownBegan() async throws { try await callGate.order().waitForClosing() }

    /// Whether the app makes no more calls.
    package var rejectsCalls: Bool { callGate.rejectsCalls }

    /// Waits for the calls in flight or for their time limit, and ends the remaining calls.
    @discardableResult
    func finishShutdown(_ order: ShutdownOrder) async -> Int {
        // A cancelled task does not wait.
        try? await order.waitForClosing()
        callGate.close()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [callGate] in try? await callGate.waitUntilEmpty() }
            group.addTask { try? await order.clock.sleep(until: order.deadline) }
            await group.next()
            group.cancelAll()
        }
        let left = callGate.inFlight
        callGate.finish()
        transport?.endCalls()
        for transport in callGate.heldTransports { transport.endCalls() }
        for (_, entry) in serviceRegistry.registered {
            if let remote = await entry.service.implementation as? RemoteResponder { remote.transport.endCalls() }
        }
        await appLifetime.endConnection(of: self, isShutDown: true)
        noteHealth()
        return left
    }
}

extension FeathersError {
    /// Returns the error for a call that the app rejects because it is shutting down.
    static func shuttingDown(_ request: ServiceRequest) -> FeathersError {
        FeathersError(
            .unavailable, "The app is shutting down: '\(request.method)' of '\(request.path)' was not made",
            execution: .neverSent)
    }
}

/// A gate that counts an app's calls in flight, and rejects new ones once the app shuts down.
final class CallGate: Sendable {
    /// The gate of this task's call. Calls made by its hooks or by a local service count as part of it.
    @TaskLocal static var entered: CallGate?

    private struct State {
        var orders = Promise<ShutdownOrder>()
        var emptied = Promise<Void>()
        /// The transports of calls that do not use the app's own.
        var transports: [Int: any Transport] = [:]
        var lastID = 0
    }

    private static let closed = 1 << (Int.bitWidth - 2)
    private static let finished = 1 << (Int.bitWidth - 3)

    /// The number of calls in flight, with two bits for the state. Every call reads it, so it must be very cheap.
    private let count = Atomic<Int>(0)
    private let state = Locked(State())

    /// The number of calls in flight.
    var inFlight: Int { count.load(ordering: .acquiring) & (Self.finished - 1) }

    /// Whether the app shuts down, although it may still admit calls.
    var isClosed: Bool { state.withLock { $0.orders.isSettled } }

    /// Whether new calls are rejected.
    var rejectsCalls: Bool { count.load(ordering: .acquiring) & Self.closed != 0 }

    /// Whether the shutdown is complete, so that calls in flight can no longer be sent either.
    var isFinished: Bool { count.load(ordering: .acquiring) & Self.finished != 0 }

    /// Admits a call, which must then ``leave()``.
    /// - Returns: False if new calls are rejected; ``leave()`` must not be called then.
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

    /// Takes the order to shut down. Only the first one counts.
    func announce(_ order: ShutdownOrder, closes: Bool) {
        let orders = state.withLock { $0.orders }
        if closes, !orders.isSettled { close() }
        orders.resolve(order)
    }

    /// Rejects new calls from now on.
    func close() { count.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing) }

    /// Completes the shutdown: remaining calls can no longer be sent.
    func finish() {
        count.bitwiseOr(Self.finished, ordering: .acquiringAndReleasing)
    }

    /// Allows calls again after a completed shutdown. A shutdown in progress continues.
    func reopen() {
        guard isFinished else { return }
        state.withLock { ($0.orders, $0.emptied) = (Promise(), Promise()) }
        count.bitwiseAnd(~(Self.closed | Self.finished), ordering: .acquiringAndReleasing)
    }

    /// Waits for the order to shut down.
    /// - Throws: `CancellationError` if the task is cancelled.
    func order() async throws -> ShutdownOrder {
        try await state.withLock { $0.orders }.value()
    }

    /// Waits until no call is in flight.
    /// - Throws: `CancellationError` if the task is cancelled.
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

/// A transport that ends its calls with the app, until this object is released.
package final class TransportHold: Sendable {
    private let gate: CallGate
    private let id: Int

    init(_ transport: any Transport, at gate: CallGate) { (self.gate, id) = (gate, gate.hold(transport)) }

    deinit { gate.release(id) }
}

/// An order to shut down, with the deadline for calls in flight.
struct ShutdownOrder: Sendable {
    /// The moment from which new calls are rejected.
    let closing: Duration
    let deadline: Duration
    let clock: RelativeClock

    func waitForClosing() async throws {
        if closing > clock.now { try await clock.sleep(until: closing) }
    }
}

import FeathersSupport

extension FeathersApp {
    /// Ends the app in order: no call begins any more, those under way finish, then the connection closes and ``run()`` returns.
    ///
    /// A call that comes too late throws ``FeathersError/Code/unavailable`` and was never sent; what a call under way calls in turn, from its
    /// hooks or from a service of this process, belongs to it. What has not finished in time fails with the connection. Code of a service of
    /// this process cannot be ended from outside, so that it is left to itself. Running or connecting again lets calls in again.
    /// - Parameters:
    ///   - limit: how long calls under way may take; of several shutdowns at once the first one's counts.
    ///   - clock: what the limit is measured on.
    /// - Returns: how many calls had not finished in time.
    @discardableResult
    public func shutDown(within limit: Duration, clock: any Clock<Duration> = ContinuousClock()) async -> Int {
        beginShutdown(within: limit, clock: clock)
        // Ordered in any case by now; whoever is cancelled waits for nothing.
        guard let order = try? await gate.order() else { return gate.underWay }
        return await finish(order)
    }

    /// Begins what ``shutDown(within:clock:)`` does and returns at once, for handlers that may not wait; ``run()`` brings it to its end.
    ///
    /// From a run that has yet to begin, too, the order is not lost.
    public func beginShutdown(within limit: Duration, clock: any Clock<Duration> = ContinuousClock()) {
        let timebase = RelativeClock(clock)
        gate.close(ShutdownOrder(deadline: timebase.now + limit, timebase: timebase))
        noteHealth()
    }

    /// How many calls are under way, those of hooks included.
    public var callsUnderWay: Int { gate.underWay }

    /// Runs a body whose calls belong to calls that are under way, although they are made elsewhere.
    package func onBehalfOfCalls<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await CallGate.$entered.withValue(gate, operation: body)
    }

    /// Waits for the calls under way, or for the end of the time they have, and ends what is left.
    @discardableResult
    func finish(_ order: ShutdownOrder) async -> Int {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [gate] in try? await gate.waitUntilEmpty() }
            group.addTask { try? await order.timebase.sleep(until: order.deadline) }
            await group.next()
            group.cancelAll()
        }
        let left = gate.underWay
        gate.finish()
        await disconnect()
        noteHealth()
        return left
    }
}

extension FeathersError {
    /// A call of an app that takes none any more.
    static func shuttingDown(_ method: ServiceMethod, _ path: String) -> FeathersError {
        FeathersError(.unavailable, "The app is shutting down: '\(method)' of '\(path)' was not made", execution: .neverSent)
    }
}

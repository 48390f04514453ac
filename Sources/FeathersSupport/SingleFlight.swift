/// Lets identical requests that happen at the same time share one.
///
/// The first caller makes the request in its own task, the others wait. Where the first is cancelled, the next one takes over: nobody's cancellation
/// is anybody else's failure, and no task is needed that belongs to nobody.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a caller has to do.
    private enum Turn: Sendable {
        /// Make the request.
        case lead
        /// Nothing: the request has come to an end.
        case landed(Result<Value, any Error>)
    }

    /// Those who wait for the requests under way, in their order.
    private let waiters = Locked<[Key: [Promise<Turn>]]>([:])
    private let onWaiting: @Sendable (Int) -> Void

    /// - Parameter onWaiting: hears how many callers wait for one request, whenever one more does.
    package init(onWaiting: @escaping @Sendable (Int) -> Void = { _ in }) { self.onWaiting = onWaiting }

    /// The value of a request of one's own, or of the identical one that is under way.
    /// - Throws: what the request throws, and `CancellationError` where the calling task is cancelled.
    package func value(of key: Key, _ request: () async throws -> Value) async throws -> Value {
        if Leading.isLeading { return try await request() }
        if case .landed(let result) = try await turn(for: key) { return try result.get() }
        do {
            let value = try await Leading.$isLeading.withValue(true, operation: request)
            land(key, .success(value))
            return value
        } catch {
            if error is CancellationError || Task.isCancelled { handOver(key) } else { land(key, .failure(error)) }
            throw error
        }
    }

    private func turn(for key: Key) async throws -> Turn {
        let waiter = waiters.withLock { waiters -> (own: Promise<Turn>, count: Int)? in
            guard waiters[key] != nil else {
                waiters[key] = []
                return nil
            }
            let own = Promise<Turn>()
            waiters[key]?.append(own)
            return (own, waiters[key]?.count ?? 0)
        }
        guard let (own, count) = waiter else { return .lead }
        onWaiting(count)
        do {
            return try await own.value()
        } catch {
            waiters.withLock { $0[key]?.removeAll { $0 === own } }
            // The lead may have come at the last moment.
            if !own.fail(error), case .lead? = own.current { handOver(key) }
            throw error
        }
    }

    private func land(_ key: Key, _ result: Result<Value, any Error>) {
        let waiters = waiters.withLock { $0.removeValue(forKey: key) ?? [] }
        for waiter in waiters { waiter.resolve(.landed(result)) }
    }

    /// Lets the next one lead that still waits.
    private func handOver(_ key: Key) {
        while let next = waiters.withLock({ waiters -> Promise<Turn>? in
            if waiters[key]?.isEmpty == false { return waiters[key]?.removeFirst() }
            waiters[key] = nil
            return nil
        }) {
            if next.resolve(.lead) { return }
        }
    }
}

/// Whether the current task makes a request that others may wait for. Such a one never waits itself: what it waited for might wait for it.
private enum Leading {
    @TaskLocal static var isLeading = false
}

/// A coordinator that lets identical concurrent requests share one.
///
/// The first caller makes the request in its own task, and the others wait. If the first caller is cancelled, the next
/// one takes over, so a cancellation never fails other callers, and no unstructured task is needed.
///
/// Inlinable and public for the reason of ``Locked``: as generic code, it looked up 23 types for each cached read.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The action for a caller.
    @usableFromInline enum Turn: Sendable {
        /// Make the request.
        case lead
        /// Return the result of the finished request.
        case landed(Result<Value, any Error>)
    }

    /// The callers that wait for requests in flight, in order.
    @usableFromInline let waiters = Locked<[Key: [Promise<Turn>]]>([:])
    @usableFromInline let onWaiting: @Sendable (Int) -> Void

    /// - Parameter onWaiting: Receives the number of callers that wait for a request, whenever it increases.
    package init(onWaiting: @escaping @Sendable (Int) -> Void = { _ in }) { self.onWaiting = onWaiting }

    /// Returns the value of a new request, or of the identical one in flight.
    /// - Throws: The error of the request, and `CancellationError` if the calling task is cancelled.
    @inlinable
    public func value(of key: Key, _ request: () async throws -> Value) async throws -> Value {
        if Leading.isOn { return try await request() }
        if case .landed(let result) = try await turn(for: key) { return try result.get() }
        do {
            let value = try await Leading.run(request)
            land(key, .success(value))
            return value
        } catch {
            if error is CancellationError || Task.isCancelled { handOver(key) } else { land(key, .failure(error)) }
            throw error
        }
    }

    @inlinable
    func turn(for key: Key) async throws -> Turn {
        let waiter = waiters.withLock { Self.join(&$0[key]) }
        guard let (own, count) = waiter else { return .lead }
        onWaiting(count)
        do {
            return try await own.value()
        } catch {
            waiters.withLock { $0[key]?.removeAll { $0 === own } }
            // This caller may have become the leader at the last moment.
            if !own.fail(error), case .lead? = own.current { handOver(key) }
            throw error
        }
    }

    /// - Returns: Nil for the first caller.
    @inlinable
    static func join(_ line: inout [Promise<Turn>]?) -> (own: Promise<Turn>, count: Int)? {
        guard let count = line?.count else {
            line = []
            return nil
        }
        let own = Promise<Turn>()
        line?.append(own)
        return (own, count + 1)
    }

    @inlinable
    func land(_ key: Key, _ result: Result<Value, any Error>) {
        let waiters = waiters.withLock { $0.removeValue(forKey: key) ?? [] }
        for waiter in waiters { waiter.resolve(.landed(result)) }
    }

    /// Makes the next waiting caller the leader.
    @usableFromInline
    func handOver(_ key: Key) {
        while let next = waiters.withLock({ waiters -> Promise<Turn>? in
            if waiters[key]?.isEmpty == false { return waiters[key]?.removeFirst() }
            waiters[key] = nil
            return nil
        }) {
            if next.resolve(.lead) { return }
        }
    }
}

/// Whether the current task makes a request that others may wait for. Such a task never waits itself, to avoid
/// deadlocks.
@usableFromInline
package enum Leading {
    @TaskLocal private static var isLeading = false

    @usableFromInline package static var isOn: Bool { isLeading }

    @usableFromInline
    static func run<Value>(_ request: () async throws -> Value) async throws -> Value {
        try await $isLeading.withValue(true, operation: request)
    }
}

/// A clock that measures durations from its creation, for use by state machines.
package struct RelativeClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleeping: @Sendable (Duration) async throws -> Void

    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleeping = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }

    package var now: Duration { elapsed() }

    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(until moment: Duration) async throws { try await sleeping(moment) }
    package func sleep(for duration: Duration) async throws { try await sleeping(now + duration) }

    /// Sleeps until a moment or until a promise is settled, whichever comes first.
    package func sleep(until moment: Duration, or promise: Promise<Void>) async throws {
        try await racing(promise.value) {
            try await sleep(until: moment)
            return .success(())
        }
    }

    /// Runs `body` for at most `limit`; nil for no limit.
    /// - Throws: the error of `body`, or `timeout` if `body` exceeds the limit.
    package func run<Value: Sendable>(
        atMost limit: Duration?, orThrow timeout: @autoclosure @escaping @Sendable () -> any Error,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await body() }
        return try await racing(body) {
            try await sleep(for: limit)
            return .failure(timeout())
        }
    }
}

/// Runs `body`, but cancels it and returns the result of `end` if that finishes first.
///
/// `body` runs in a child task, which is cancelled and awaited, so a task that ignores cancellation is still awaited.
package func racing<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value, against end: @escaping @Sendable () async throws -> Result<Value, any Error>
) async throws -> Value {
    try await withThrowingTaskGroup(of: Result<Value, any Error>.self) { group in
        group.addTask { .success(try await body()) }
        group.addTask { try await end() }
        defer { group.cancelAll() }
        // Two children were added, so there is always a first result.
        guard let first = try await group.next() else { throw CancellationError() }
        return try first.get()
    }
}

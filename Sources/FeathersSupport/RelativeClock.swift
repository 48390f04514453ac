/// A clock that measures durations from its creation, for use by state machines.
package struct RelativeClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleeping: @Sendable (Duration) async throws -> Void
    private let isContinuous: Bool

    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        isContinuous = clock is ContinuousClock
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

    /// Settles a promise at a moment, and returns when it is settled, or when the task is cancelled.
    package func settle(_ promise: Promise<Void>, at moment: Duration) async {
        // Prefers a timer, because a task that sleeps takes 3 KB: a fifth of the memory of an idle connection.
        if let timer = schedule(promise, at: moment) {
            defer { timer.cancel() }
            try? await promise.value()
            return
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await sleep(until: moment)
                promise.resolve(())
            }
            try? await promise.value()
            group.cancelAll()
        }
    }

    /// Settles a promise at a moment, without a task that waits.
    /// - Returns: The timer; nil if the clock has none, so that a task must wait.
    package func schedule(_ promise: Promise<Void>, at moment: Duration) -> SharedTimer.Entry? {
        #if canImport(Darwin)
            // On Apple platforms, Dispatch's time stops while the device sleeps, unlike that of a continuous clock.
            return nil
        #else
            guard isContinuous else { return nil }
            return SharedTimer.process.settle(promise, at: .now + min(moment - now, .seconds(1e9)))
        #endif
    }

    /// Runs `body` for at most `limit`; nil for no limit.
    /// - Throws: The error of `body`, or `timeout` if `body` exceeds the limit.
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
    _ body: @escaping @Sendable () async throws -> Value,
    against end: @escaping @Sendable () async throws -> Result<Value, any Error>
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

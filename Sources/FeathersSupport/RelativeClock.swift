/// A clock as durations since the transport was made: what state machines can count with.
package struct RelativeClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleeping: @Sendable (Duration) async throws -> Void

    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleeping = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }

    package var now: Duration { elapsed() }

    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until moment: Duration) async throws { try await sleeping(moment) }

    package func sleep(for duration: Duration) async throws { try await sleeping(now + duration) }

    /// Runs `body` for at most `limit`.
    /// - Throws: what `body` throws, or what `timeout` makes when it takes longer.
    package func run<Value: Sendable>(
        atMost limit: Duration, orThrow timeout: @autoclosure @escaping @Sendable () -> any Error,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await sleep(for: limit)
                throw timeout()
            }
            defer { group.cancelAll() }
            // Two children were added, so that there is a first.
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

import FeathersSupport

/// Runs `body` and gives it up when `end` comes first, with the error that says why.
func racing<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value, against end: @escaping @Sendable () async throws -> any Error
) async throws -> Value { try await racing(body) { .failure(try await end()) } }

/// Runs `body` for at most `limit`, and fails with `error` after that; nil is as long as it takes.
func limiting<Value: Sendable>(
    to limit: Duration?, on clock: any Clock<Duration>, orThrow error: @escaping @Sendable () -> any Error,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value { try await RelativeClock(clock).run(atMost: limit, orThrow: error(), body) }

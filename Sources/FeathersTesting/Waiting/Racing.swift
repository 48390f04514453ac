/// Runs `body` and gives it up when `end` comes first, with the error that says why.
///
/// `body` runs in a child task, which is cancelled and awaited: one that ignores cancellation is waited for.
func racing<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value, against end: @escaping @Sendable () async throws -> any Error
) async throws -> Value {
    try await withThrowingTaskGroup(of: Result<Value, any Error>.self) { group in
        group.addTask { .success(try await body()) }
        group.addTask { .failure(try await end()) }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return try first.get()
    }
}

/// Runs `body` for at most `limit`, and fails with `error` after that; nil is as long as it takes.
func limiting<Value: Sendable>(
    to limit: Duration?, on clock: any Clock<Duration>, orThrow error: @escaping @Sendable () -> any Error,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    return try await racing(body) {
        try await clock.sleep(for: limit)
        return error()
    }
}

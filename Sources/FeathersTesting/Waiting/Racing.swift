import FeathersSupport

/// Runs `body` and gives it up when `end` comes first, with the error that says why.
func racing<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value, against end: @escaping @Sendable () async throws -> any Error
) async throws -> Value { try await racing(body) { .failure(try await end()) } }

import FeathersSupport

/// Runs `body`, and cancels it if `end` finishes first. Then throws the error that `end` returned.
func racing<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value, against end: @escaping @Sendable () async throws -> any Error
) async throws -> Value { try await racing(body) { .failure(try await end()) } }

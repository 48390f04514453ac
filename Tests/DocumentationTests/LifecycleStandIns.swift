// What the samples about servers need of swift-service-lifecycle, as narrow as that package declares it.

enum ServiceLifecycle {
    protocol Service: Sendable {
        func run() async throws
    }
}

/// The group's order to end, here one that has come already.
func withGracefulShutdownHandler(_ operation: () async throws -> Void, onGracefulShutdown handler: @Sendable () -> Void)
    async rethrows
{
    handler()
    try await operation()
}

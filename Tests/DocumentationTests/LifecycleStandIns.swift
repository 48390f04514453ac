// What the samples about servers need of swift-service-lifecycle, as narrow as that package declares it.

nonisolated enum ServiceLifecycle {
    protocol Service: Sendable {
        func run() async throws
    }
}

extension FeathersApp {
    /// Sets the app up, keeps its connection until the task is cancelled or the app is shut down, and tears it down: the life of a server's service.
    ///
    /// It has the form of swift-service-lifecycle's `Service`.
    /// - Throws: what the set-up or tear-down throws, and why the connection was closed for good.
    public func run() async throws {
        try await live {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.keepConnected() }
                group.addTask {
                    guard let order = try? await self.gate.order() else { return }
                    await self.finish(order)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func keepConnected() async throws {
        if let transport = realTimeTransport { return try await transport.run() }
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
    }

    /// Runs `body`, and the background work beside it, between the set-up and the end of connection and services, which also comes
    /// when `body` throws.
    fileprivate func live<Result>(_ body: () async throws -> Result) async throws -> Result {
        gate.reopen()
        try await setUp()
        // However it ends.
        defer { noteHealth() }
        let result: Result
        do {
            result = try await withBackgroundWork(body)
        } catch {
            // The body's failure is the one to report; the tear-down must still be tried.
            await disconnect()
            try? await tearDown()
            throw error
        }
        await disconnect()
        try await tearDown()
        return result
    }
}

/// Sets an app up, keeps its connection while `body` runs with it, and tears it down whatever happens.
///
/// Calls made before the connection stands wait for it; how it is, ``FeathersApp/connectionStatus`` tells.
/// - Throws: what `body` throws, else what the set-up or tear-down throws.
public func withFeathersApp<Result>(
    _ app: FeathersApp, _ body: (FeathersApp) async throws -> Result
) async throws -> Result {
    try await app.live {
        // Ends with the body. A connection that was closed for good shows in its status and fails the calls that need it.
        async let _ = app.realTimeTransport?.run()
        return try await body(app)
    }
}

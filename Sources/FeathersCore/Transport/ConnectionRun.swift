package import FeathersSupport

/// A client that opens the connection of a transport, and opens it again after it was lost.
package protocol ConnectionClient: Sendable {
    /// Claims the right to run. The first caller must then call ``run(stopsAtFirstFailure:)``.
    /// - Returns: Whether the caller is the first, and a function that waits for the first or current attempt to
    ///   connect. It throws the reason why that failed, or `CancellationError`.
    func start() -> (isFirst: Bool, opened: @Sendable () async throws -> Void)

    /// Connects, and reconnects until stopped or until the policy ends it.
    /// - Parameter stopsAtFirstFailure: Whether to give up if the first attempt fails.
    /// - Throws: ``FeathersError`` with the reason why the connection ended permanently.
    func run(stopsAtFirstFailure: Bool) async throws

    /// Ends the connection, or the attempt to connect, and returns when it has ended. A no-op if nothing is running.
    func stop() async
}

/// Runs a transport's client, in the task of a caller or in its own, which ends with the transport.
package final class ConnectionRunner: Sendable {
    private let client: any ConnectionClient
    /// The task that ``connect()`` started. It retains the client, never the transport or an app.
    private let task = Locked<Task<Void, Never>?>(nil)

    package init(_ client: any ConnectionClient) { self.client = client }

    deinit { task.withLock { $0 }?.cancel() }

    /// Runs the client in the caller's task.
    package func run() async throws {
        guard client.start().isFirst else {
            throw FeathersError(.conflict, "The transport is already running", execution: .neverSent)
        }
        try await client.run(stopsAtFirstFailure: false)
    }

    /// Runs the client in its own task, and returns when the connection is open. If it throws, nothing that it started
    /// is left running.
    package func connect() async throws {
        try Task.checkCancellation()
        let (isFirst, opened) = client.start()
        if isFirst {
            let running = Task<Void, Never> { @concurrent [client] in
                // Callers get the error from `opened`, all others from the status.
                try? await client.run(stopsAtFirstFailure: true)
            }
            task.withLock { $0 = running }
        }
        do {
            try await opened()
        } catch {
            if isFirst { await client.stop() }
            throw error
        }
    }
}

/// The state of a client that keeps a connection open, and the signals between it and those that wait for it.
package struct ConnectionRun: Sendable {
    package enum Life: Sendable {
        /// No connection was requested, or this side ended it.
        case idle
        case running
        /// The connection ended and will not be restored automatically.
        case closed(DisconnectReason)
    }

    package var life = Life.idle
    /// The result of the current attempt to connect. Settled while a connection is open.
    package var outcome = Promise<Void>()
    package let stop = Promise<Void>()
    package let ended = Promise<Void>()
    /// Ends the wait for the next attempt.
    package var retry: Promise<Void>?

    package init() {}

    package var isRunning: Bool { if case .running = life { true } else { false } }

    /// Begins a run, unless there is one; see ``ConnectionClient/start()``.
    package mutating func start() -> (isFirst: Bool, opened: @Sendable () async throws -> Void) {
        let isFirst = !isRunning
        if isFirst {
            self = ConnectionRun()
            life = .running
        }
        return (isFirst, { [outcome] in try await outcome.value() })
    }

    /// Lets later callers wait for the next attempt.
    /// - Returns: The outcome that earlier callers wait for.
    package mutating func renewOutcome() -> Promise<Void> {
        defer { outcome = Promise() }
        return outcome
    }
}

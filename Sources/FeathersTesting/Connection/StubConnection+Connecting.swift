import FeathersCore
import FeathersSupport

extension StubConnection {
    /// Waits for the connection that ``start()`` has begun, or that somebody else has.
    func waitForConnection(stood: Int, ended: Int) async throws {
        try await line.wait { $0.isStanding || $0.standingCount > stood || $0.endCount > ended || !$0.isRunning }
        let current = line.current
        guard current.isStanding || current.standingCount > stood else { throw current.end.error }
    }

    /// Ends the connection, or the attempt to get one, and returns when it has ended; does nothing where nothing runs.
    func stop() async {
        line.update { if $0.isRunning { $0.life = .running(isStopping: true) } }
        // Whoever is cancelled while waiting has still ended the connection.
        try? await line.wait { !$0.isRunning }
    }

    /// The statuses from the present one on, each reader at its own pace.
    func statusUpdates() -> AsyncStream<ConnectionStatus> {
        let next = Locked(line.current.statuses.count - 1)
        return AsyncStream { [line] in
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            guard (try? await line.wait(until: { $0.statuses.count > index })) != nil else { return nil }
            return line.current.statuses[index]
        }
    }
}

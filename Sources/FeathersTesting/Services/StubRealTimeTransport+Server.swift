public import FeathersCore

/// The actions of a stub transport's server.
extension StubRealTimeTransport {
    /// Pushes a service event to the app. For FeathersJS' own events, the data is the record.
    ///
    /// Without a connection, the event is lost, as with a real server, unless the next connection is recovered.
    public func emit(_ name: EventName, of path: String, _ data: JSONValue) {
        emit(ServiceEvent(path: path, name: name, data: data))
    }

    /// Pushes an event to the app, like ``emit(_:of:_:)``.
    public func emit(_ event: ServiceEvent) { connection.emit(event) }

    /// Ends the connection, and makes the server unavailable until ``restore(recovered:)``.
    ///
    /// Calls in flight fail with `FeathersError.Code.unavailable` and may have been executed. After
    /// `DisconnectReason.refused(_:)`, no further attempt follows unless a plugin requests one. If there is no connection, the server becomes unavailable nevertheless, and attempts to
    /// connect fail.
    public func drop(_ reason: DisconnectReason = .transportClose) {
        connection.line.update { line in
            line.server = .away
            line.lose(line.link, reason)
        }
    }

    /// Makes the server available again. A lost connection is reopened immediately.
    /// - Parameter recovered: Whether the next connection replays the missed events instead of beginning with a gap.
    public func restore(recovered: Bool = false) {
        connection.line.update { $0.server = .accepting(recovered: recovered) }
    }

    /// Refuses connections with an error, like a server whose middleware requires a token. A connection that is already
    /// open is not affected.
    /// - Parameters:
    ///   - error: The error for each attempt.
    ///   - attempts: The number of attempts to refuse; nil for all attempts until ``restore(recovered:)``.
    public func refuse(with error: FeathersError, attempts: Int? = nil) {
        connection.line.update { $0.server = .refusing(error, attempts: attempts) }
    }

    /// The header fields of every attempt to connect so far, as set by plugins.
    public var openings: [[String: String]] { connection.line.current.openings }

    /// The number of calls that wait for a connection.
    public var waitingCallCount: Int { connection.line.current.queue.count }

    /// Waits until at least this many calls wait for a connection.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitForWaitingCalls(_ count: Int) async throws {
        try await connection.line.wait { $0.queue.count >= count }
    }

    /// Waits until the connection's status meets a condition. Statuses that have passed since the call count too.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitForStatus(_ condition: @escaping @Sendable (ConnectionStatus) -> Bool) async throws {
        let present = connection.line.current.statuses.count - 1
        try await connection.line.wait { $0.statuses[present...].contains(where: condition) }
    }
}

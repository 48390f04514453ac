public import FeathersCore

/// What the server of a stub transport does.
extension StubRealTimeTransport {
    /// Pushes an event of a service to the app. The data are the record, for FeathersJS' own events.
    ///
    /// Without a connection it is lost, as a server's is, unless the next connection is recovered.
    public func emit(_ name: EventName, of path: String, _ data: JSONValue) { emit(ServiceEvent(path: path, name: name, data: data)) }

    /// Pushes an event to the app, as ``emit(_:of:_:)`` does.
    public func emit(_ event: ServiceEvent) { connection.emit(event) }

    /// Ends the connection, and keeps the server away until ``restore(recovered:)``.
    ///
    /// Calls under way fail with `FeathersError.Code.unavailable` and may have been executed. After
    /// `DisconnectReason.serverDisconnect` and `DisconnectReason.refused(_:)` no other attempt follows, unless a plugin asks for one.
    /// Without a connection it keeps the server away all the same: what connects then fails.
    public func drop(_ reason: DisconnectReason = .transportClose) {
        connection.line.update { line in
            line.server = .away
            line.lose(line.link, reason)
        }
    }

    /// Lets the server take connections again; one that was lost is made at once.
    /// - Parameter recovered: whether the next connection replays the events missed meanwhile, rather than begin with a gap.
    public func restore(recovered: Bool = false) { connection.line.update { $0.server = .accepting(recovered: recovered) } }

    /// Refuses connections with an error, as a server does whose middleware wants a token. One that stands is left alone.
    /// - Parameter attempts: how many attempts are refused; nil for all of them until ``restore(recovered:)``.
    public func refuse(with error: FeathersError, attempts: Int? = nil) {
        connection.line.update { $0.server = .refusing(error, attempts: attempts) }
    }

    /// The header fields of every attempt to connect so far, as plugins have made them.
    public var openings: [[String: String]] { connection.line.current.openings }

    /// How many calls wait for a connection.
    public var waitingCallCount: Int { connection.line.current.queue.count }

    /// Waits until so many calls wait for a connection.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForWaitingCalls(_ count: Int) async throws { try await connection.line.wait { $0.queue.count >= count } }

    /// Waits until the connection is, or has been since this was called, as the condition says.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForStatus(_ condition: @escaping @Sendable (ConnectionStatus) -> Bool) async throws {
        let present = connection.line.current.statuses.count - 1
        try await connection.line.wait { $0.statuses[present...].contains(where: condition) }
    }
}

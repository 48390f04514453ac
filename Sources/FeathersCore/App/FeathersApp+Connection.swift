extension FeathersApp {
    /// Opens the transport's connection and returns once it stands; does nothing where the transport keeps none.
    /// - Throws: ``FeathersError`` saying why there is no connection.
    public func connect() async throws {
        gate.reopen()
        try await realTimeTransport?.connect()
    }

    /// Closes the transport's connection and returns when it is closed; does nothing where the transport keeps none.
    public func disconnect() async {
        await realTimeTransport?.disconnect()
    }

    /// How the connection is; nil where the transport keeps none.
    public var connectionStatus: ConnectionStatus? { realTimeTransport?.status }

    /// How the connection is and then every change of it; ends at once where the transport keeps none.
    public func connectionStatusUpdates() -> AsyncStream<ConnectionStatus> {
        realTimeTransport?.statusUpdates() ?? AsyncStream { $0.finish() }
    }

    var realTimeTransport: (any RealTimeTransport)? { transport as? any RealTimeTransport }
}

/// A transport that keeps a connection open, over which the server also pushes events.
public protocol RealTimeTransport: Transport {
    /// Sets the receiver of events. The app calls this method once, before connecting.
    func deliver(to sink: EventSink)

    /// Adds a setup that runs on every connection from the next one on. Setups run in the order in which they were
    /// added.
    func use(connectionSetup setup: ConnectionSetup)

    /// Connects, and stays connected until the task is cancelled or the connection is closed permanently.
    /// - Throws: ``FeathersError`` with the reason for a permanent close. Does not throw after ``disconnect()`` or a
    ///   cancellation.
    func run() async throws

    /// Starts the same work as ``run()``, and returns once the first connection is open.
    /// - Throws: ``FeathersError`` with the reason if the connection fails.
    func connect() async throws

    /// Stops the work started by ``connect()``, and returns once it has stopped.
    func disconnect() async

    /// The current status of the connection.
    var status: ConnectionStatus { get }

    /// Returns the current status of the connection, followed by every change.
    func statusUpdates() -> AsyncStream<ConnectionStatus>

    /// The number of calls the transport currently holds. The default implementation reports none.
    var load: TransportLoad { get }
}

/// A transport whose server knows the user of a connection only from the header fields that opened it.
package protocol ReopeningTransport: RealTimeTransport {
    /// Replaces the connection, or the attempt to open one, by one with the current header fields.
    func reopen()
}

/// A transport whose connection can end with its user, so that another one opens.
package protocol ConnectionReplacing: RealTimeTransport {
    /// Retires the current connection: from now on, it carries only calls with ``Params/endsConnection``. Other calls
    /// wait for the next connection. The session of the connection, or of the last one, is not recovered.
    ///
    /// Takes no other action, so it can be called with a lock held. ``replaceConnection()`` must follow.
    /// - Returns: Whether there is a connection.
    func retireConnection() -> Bool

    /// Ends the retired connection and opens another one without a delay. A no-op if the connection is not retired.
    func replaceConnection()
}

/// The number of calls that a transport holds.
public struct TransportLoad: Sendable, Hashable {
    /// The number of calls that wait for a connection.
    public var waiting: Int
    /// The number of calls that were sent but have not received a response.
    public var unanswered: Int

    /// Creates a load with these counts.
    public init(waiting: Int = 0, unanswered: Int = 0) {
        self.waiting = waiting
        self.unanswered = unanswered
    }
}

extension RealTimeTransport {
    public var load: TransportLoad { TransportLoad() }
}
/// The work that a plugin performs on every connection of a real-time transport, such as authentication.
///
/// A new connection has no state from the previous one, even if the server recovered its session, so setups run on
/// every connection.
public struct ConnectionSetup: Sendable {
    /// A function that sends a request over the new connection, ahead of every call that waits for it.
    ///
    /// It throws the errors of ``Transport/send(_:)``. Once the connection has ended, it throws
    /// ``FeathersError/Code/unavailable``.
    public typealias Send = @Sendable (ServiceRequest) async throws -> ServiceResponse

    /// A function that returns header fields for opening a connection. It is called once for each attempt.
    public var headers: @Sendable () async throws -> [String: String]
    /// A function that runs on every connection once the server has accepted it, before any waiting call is sent and
    /// before the connection counts as open. It is cancelled if the connection ends.
    public var prepare: @Sendable (@escaping Send) async -> Void
    /// A function that runs alongside a prepared connection. It is cancelled when the connection ends.
    public var accompany: @Sendable (@escaping Send) async -> Void
    /// A function that decides whether to reconnect if the transport considers the end final: the server refused the
    /// connection.
    public var reconnects: @Sendable (DisconnectReason) async -> Bool

    /// Creates a setup. By default, each function does nothing.
    public init(
        headers: @escaping @Sendable () async throws -> [String: String] = { [:] },
        prepare: @escaping @Sendable (@escaping Send) async -> Void = { _ in },
        accompany: @escaping @Sendable (@escaping Send) async -> Void = { _ in },
        reconnects: @escaping @Sendable (DisconnectReason) async -> Bool = { _ in false }
    ) {
        self.headers = headers
        self.prepare = prepare
        self.accompany = accompany
        self.reconnects = reconnects
    }
}

/// The status of a connection to a server.
public enum ConnectionStatus: Sendable, Hashable {
    /// No connection was requested yet, or it was closed locally.
    case offline
    /// A connection is being opened. Attempts count from 1 after the last open connection.
    case connecting(attempt: Int)
    /// The connection is open. If `recovered` is true, the server has replayed all missed events.
    case connected(recovered: Bool)
    /// The next attempt starts after a delay; `after` is the reason for the last failure or disconnect.
    case waiting(attempt: Int, delay: Duration, after: DisconnectReason)
    /// The connection ended and will not be reestablished automatically.
    case closed(DisconnectReason)
}

/// The reason a connection ended.
public enum DisconnectReason: Sendable, Hashable {
    /// The server closed it (Socket.IO's `io server disconnect`). FeathersJS does so when a token expires.
    case serverDisconnect
    /// The client closed it (`io client disconnect`).
    case clientDisconnect
    /// The server was silent for longer than it had announced (`ping timeout`).
    case pingTimeout
    /// The connection was closed without an explanation (`transport close`).
    case transportClose
    /// The connection failed (`transport error`), for the reason in the message.
    case transportError(String)
    /// The received data was not valid Socket.IO (`parse error`).
    case parseError(String)
    /// The server refused the connection to its namespace (`connect_error`).
    case refused(String)
    /// The maximum number of attempts failed.
    case attemptsExhausted
}

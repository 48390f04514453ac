/// A transport that keeps a connection, over which the server also pushes events.
public protocol RealTimeTransport: Transport {
    /// Says where events go. The app calls it once, before anything connects.
    func deliver(to sink: EventSink)

    /// Says what is done on every connection from the next one on; what several plugins ask for is done in the order of their asking.
    func use(connectionSetup setup: ConnectionSetup)

    /// Connects, and keeps connected, until the task is cancelled or the connection is closed for good.
    /// - Throws: ``FeathersError`` saying why the connection was closed for good; nothing after ``disconnect()`` and a cancellation.
    func run() async throws

    /// Begins what ``run()`` does and returns once the first connection stands.
    /// - Throws: ``FeathersError`` saying why there is none.
    func connect() async throws

    /// Ends what ``connect()`` began and returns when it has ended.
    func disconnect() async

    /// How the connection is right now.
    var status: ConnectionStatus { get }

    /// How the connection is, and then every change of it.
    func statusUpdates() -> AsyncStream<ConnectionStatus>

    /// How many calls it holds right now; none where it does not count them.
    var load: TransportLoad { get }
}

/// How many calls a transport holds.
public struct TransportLoad: Sendable, Hashable {
    /// Calls that wait for a connection.
    public var waiting: Int
    /// Calls that were sent and are not answered.
    public var unanswered: Int

    /// Creates a load from its counts.
    public init(waiting: Int = 0, unanswered: Int = 0) {
        self.waiting = waiting
        self.unanswered = unanswered
    }
}

extension RealTimeTransport {
    public var load: TransportLoad { TransportLoad() }
}
/// What a plugin does on every connection of a real-time transport: authentication, for one.
///
/// A connection that stands again knows nothing of the one before it, not even where the server recovered its session, so that this
/// is asked for on each of them.
public struct ConnectionSetup: Sendable {
    /// Sends a request over the new connection, ahead of every call that waits for one.
    ///
    /// It throws what ``Transport/send(_:)`` throws; once the connection is gone, ``FeathersError/Code/unavailable``.
    public typealias Send = @Sendable (ServiceRequest) async throws -> ServiceResponse

    /// Makes header fields for the opening of a connection, once for each attempt.
    public var headers: @Sendable () async throws -> [String: String]
    /// Runs on every connection once the server has accepted it, before any call that waits is sent and before the connection
    /// counts as standing. It is cancelled when the connection ends first.
    public var prepare: @Sendable (Send) async -> Void
    /// Runs beside a prepared connection and is cancelled when that ends.
    public var accompany: @Sendable (Send) async -> Void
    /// Whether to connect again after an end that the transport takes for final: the server ended the connection, or refused it.
    public var reconnects: @Sendable (DisconnectReason) async -> Bool

    /// A setup; the parameters are the properties of the same names, and do nothing unless given.
    public init(
        headers: @escaping @Sendable () async throws -> [String: String] = { [:] },
        prepare: @escaping @Sendable (Send) async -> Void = { _ in },
        accompany: @escaping @Sendable (Send) async -> Void = { _ in },
        reconnects: @escaping @Sendable (DisconnectReason) async -> Bool = { _ in false }
    ) {
        self.headers = headers
        self.prepare = prepare
        self.accompany = accompany
        self.reconnects = reconnects
    }
}

/// How a connection to a server is.
public enum ConnectionStatus: Sendable, Hashable {
    /// Nobody has asked for a connection yet, or it was ended on our side.
    case offline
    /// A connection is being opened; attempts count from 1 since the last one stood.
    case connecting(attempt: Int)
    /// The connection stands; `recovered` where the server has replayed all that was missed.
    case connected(recovered: Bool)
    /// The next attempt comes after a delay; `after` says why the last one failed, or why the connection ended.
    case waiting(attempt: Int, delay: Duration, after: DisconnectReason)
    /// The connection ended and will not come back by itself.
    case closed(DisconnectReason)
}

/// Why a connection ended.
public enum DisconnectReason: Sendable, Hashable {
    /// The server ended it (Socket.IO's `io server disconnect`); FeathersJS does so when a token expires.
    case serverDisconnect
    /// This side ended it (`io client disconnect`).
    case clientDisconnect
    /// The server was silent for longer than it promised (`ping timeout`).
    case pingTimeout
    /// The connection was closed without a word (`transport close`).
    case transportClose
    /// The connection failed (`transport error`); the message says how.
    case transportError(String)
    /// What came was no Socket.IO (`parse error`).
    case parseError(String)
    /// The server refused the connection to its namespace (`connect_error`).
    case refused(String)
    /// As many attempts failed as the policy allows.
    case attemptsExhausted
}

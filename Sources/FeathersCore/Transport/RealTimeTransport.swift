/// A transport that keeps a connection, over which the server also pushes events.
public protocol RealTimeTransport: Transport {
    /// Says where events go. The app calls it once, before anything connects.
    func deliver(to sink: EventSink)

    /// Says what is done on every connection from the next one on; what several plugins ask for is done in the order of their asking.
    func addConnectionSetup(_ setup: ConnectionSetup)

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

    /// A load; the parameters are the properties of the same names.
    public init(waiting: Int = 0, unanswered: Int = 0) {
        self.waiting = waiting
        self.unanswered = unanswered
    }
}

extension RealTimeTransport {
    public var load: TransportLoad { TransportLoad() }
}

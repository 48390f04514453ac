public import FeathersCore
public import FeathersSupport

/// A real-time transport without a server, which responds with stubs, pushes events, and drops its connection on
/// request.
///
/// ```swift
/// let transport = StubRealTimeTransport()
/// transport.stub("messages", .create, with: ServiceStub { $0.data ?? .null })
/// let app = FeathersApp(transport: transport)
/// try await app.connect()
/// transport.emit(.created, of: "messages", ["id": 1, "text": "Hi"])
/// transport.drop(.pingTimeout)
/// transport.restore()
/// ```
///
/// It behaves like a Socket.IO connection: calls wait in order until plugins have prepared a connection, calls in
/// flight fail when it is lost, and a reopened connection begins with a gap. After a successful `create`, `update`,
/// `patch`, or `remove`, the server pushes the event, unless you turn that off. The test decides when the connection
/// returns; there is no backoff.
///
/// ## Topics
///
/// ### Creating a stub
/// - ``init(pushesEvents:callTimeout:clock:)``
/// - ``init(services:pushesEvents:callTimeout:clock:)``
/// - ``init(passingThrough:pushesEvents:callTimeout:clock:)``
///
/// ### The server
/// - ``emit(_:of:_:)``
/// - ``emit(_:)``
/// - ``drop(_:)``
/// - ``restore(recovered:)``
/// - ``refuse(with:attempts:)``
///
/// ### The connection
/// - ``run()``
/// - ``connect()``
/// - ``disconnect()``
/// - ``status``
/// - ``statusUpdates()``
/// - ``waitForStatus(_:)``
/// - ``openings``
///
/// ### Calls
/// - ``waitingCallCount``
/// - ``waitForWaitingCalls(_:)``
/// - ``load``
public final class StubRealTimeTransport: RealTimeTransport, StubHost, ConnectionReplacing, TimeLimitingTransport,
    SecretHiding
{
    public let registry: StubRegistry<ServiceRequest, JSONValue>
    let connection: StubConnection
    private let passedThrough: (any RealTimeTransport)?
    private let runner: ConnectionRunner

    package var callTimeout: Duration? { connection.callTimeout }

    private init(
        fallback: ServiceStub, pushesEvents: Bool, callTimeout: Duration?, clock: any Clock<Duration>,
        passedThrough: (any RealTimeTransport)? = nil
    ) {
        registry = StubRegistry(fallback: fallback)
        // A real server pushes the events for its own responses.
        let isPushedElsewhere = passedThrough != nil
        connection = StubConnection(registry: registry, callTimeout: callTimeout, clock: clock) {
            pushesEvents && ($0.isStubbed || !isPushedElsewhere)
        }
        runner = ConnectionRunner(connection)
        self.passedThrough = passedThrough
    }

    /// Creates a strict stub: a call without a registered stub throws `FeathersError.Code.notImplemented`, which names
    /// the method and path.
    /// - Parameters:
    ///   - pushesEvents: Whether the server pushes events for the changes that calls make, as FeathersJS does.
    ///   - callTimeout: The maximum duration of a call, including the wait for a connection, unless the call sets its
    ///     own; nil for no limit.
    ///   - clock: The clock for timeouts.
    public convenience init(
        pushesEvents: Bool = true, callTimeout: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(fallback: .strict, pushesEvents: pushesEvents, callTimeout: callTimeout, clock: clock)
    }

    /// Creates a stub that responds with the results of services, by path, unless a stub is registered. Any other path
    /// is `FeathersError.Code.notFound`. The other parameters are those of ``init(pushesEvents:callTimeout:clock:)``.
    public convenience init(
        services: [String: any ServiceProtocol], pushesEvents: Bool = true, callTimeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(fallback: .services(services), pushesEvents: pushesEvents, callTimeout: callTimeout, clock: clock)
    }

    /// Creates a stub that passes calls without a registered stub on to another transport.
    ///
    /// If that is a real-time transport, its events are passed on too, but you must connect it yourself. The other
    /// parameters are those of ``init(pushesEvents:callTimeout:clock:)``.
    public convenience init(
        passingThrough transport: any Transport, pushesEvents: Bool = true, callTimeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            fallback: .passing(to: transport), pushesEvents: pushesEvents, callTimeout: callTimeout, clock: clock,
            passedThrough: transport as? any RealTimeTransport)
    }

    /// Responds to a call with its stub once the connection is open.
    /// - Throws: Any error from the stub; ``FeathersError/Code/badRequest`` if the call has credentials of its own in
    ///   its header fields, which a connection does not carry; ``FeathersError/Code/timeout`` or
    ///   ``FeathersError/Code/unavailable`` if no response arrived, with an accurate statement of whether the call had
    ///   arrived; or `CancellationError` if the task is cancelled.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        try request.checkConnectionMayCarry()
        return ServiceResponse(try await connection.call(request))
    }

    public func endCalls() {
        connection.line.update { $0.endings += 1 }
    }

    public func deliver(to sink: EventSink) {
        connection.line.update { $0.sink = sink }
        passedThrough?.deliver(to: sink)
    }

    public func use(connectionSetup setup: ConnectionSetup) {
        connection.line.update { $0.setups.append(setup) }
    }

    public func run() async throws { try await runner.run() }
    public func connect() async throws { try await runner.connect() }
    public func disconnect() async { await connection.stop() }

    package func retireConnection() -> Bool { connection.line.update { $0.retire() } }
    package func replaceConnection() { connection.replace() }

    public var status: ConnectionStatus { connection.line.current.statuses.last ?? .offline }

    /// The calls that wait for a connection. Calls that stubs are processing are not counted.
    public var load: TransportLoad { TransportLoad(waiting: waitingCallCount) }

    public func statusUpdates() -> AsyncStream<ConnectionStatus> { connection.statusUpdates() }
}

extension StubRealTimeTransport: CallQueueing {
    package func failUnsentCalls(where isStale: @Sendable (ServiceRequest) -> Bool) {
        connection.line.update { $0.failUnsent(where: isStale) }
    }
}

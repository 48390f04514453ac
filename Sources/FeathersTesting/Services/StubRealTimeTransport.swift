public import FeathersCore
import FeathersSupport

/// A real-time transport without a server: answers with stubs, pushes events, and loses its connection when told to.
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
/// It behaves as a Socket.IO connection does: calls wait in order for a connection that plugins have prepared, those under way fail when
/// it is lost, and a connection that comes back begins with a gap. After a successful `create`, `update`, `patch` or `remove` the
/// server pushes the event, unless told otherwise. When it comes back is the test's to say, with no delay in between.
public final class StubRealTimeTransport: RealTimeTransport, StubHost {
    public let book: StubRegistry<ServiceRequest, JSONValue>
    let connection: StubConnection
    private let passedThrough: (any RealTimeTransport)?
    /// The one task that is nobody's child: what ``connect()`` began. It holds the connection, never the transport or an app.
    private let task = Locked<Task<Void, Never>?>(nil)

    private init(
        fallback: ServiceStub, pushesEvents: Bool, callTimeout: Duration?, clock: any Clock<Duration>,
        passedThrough: (any RealTimeTransport)? = nil
    ) {
        book = StubRegistry(fallback: fallback)
        // What a real server has answered, it tells of itself.
        let isPushedElsewhere = passedThrough != nil
        connection = StubConnection(book: book, callTimeout: callTimeout, clock: clock) {
            pushesEvents && ($0.isStubbed || !isPushedElsewhere)
        }
        self.passedThrough = passedThrough
    }

    /// A strict stub: a call for which nothing is registered throws `FeathersError.Code.notImplemented`, naming method and path.
    /// - Parameters:
    ///   - pushesEvents: whether the server tells of the changes that calls have made, as FeathersJS does.
    ///   - callTimeout: how long a call may take unless it says otherwise, waiting for a connection included; nil for as long as it takes.
    ///   - clock: what the timeouts are measured on.
    public convenience init(
        pushesEvents: Bool = true, callTimeout: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(fallback: .strict, pushesEvents: pushesEvents, callTimeout: callTimeout, clock: clock)
    }

    /// A stub that answers as the given services would, by path, unless a stub is registered; any other path is
    /// `FeathersError.Code.notFound`. The other parameters are those of ``init(pushesEvents:callTimeout:clock:)``.
    public convenience init(
        services: [String: any ServiceProtocol], pushesEvents: Bool = true, callTimeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(fallback: .services(services), pushesEvents: pushesEvents, callTimeout: callTimeout, clock: clock)
    }

    /// A stub that hands on to another transport whatever no stub is registered for.
    ///
    /// Of a real-time transport the events come through too; to connect it is yours. The other parameters are those of
    /// ``init(pushesEvents:callTimeout:clock:)``.
    public convenience init(
        passingThrough transport: any Transport, pushesEvents: Bool = true, callTimeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            fallback: .passing(to: transport), pushesEvents: pushesEvents, callTimeout: callTimeout, clock: clock,
            passedThrough: transport as? any RealTimeTransport)
    }

    deinit {
        task.withLock { $0 }?.cancel()
    }

    /// Answers a call with its stub once a connection stands.
    /// - Throws: what the stub throws. ``FeathersError/Code/timeout`` and ``FeathersError/Code/unavailable`` where no answer came, with the
    ///   truth about whether the call had arrived. `CancellationError` when cancelled.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        ServiceResponse(try await connection.call(request))
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

    public func run() async throws {
        guard connection.start().isFirst else {
            throw FeathersError(.conflict, "The transport is running already", execution: .neverSent)
        }
        try await connection.run(stopsAtFirstFailure: false)
    }

    public func connect() async throws {
        try Task.checkCancellation()
        let (isFirst, stood, ended) = connection.start()
        if isFirst {
            let running = Task<Void, Never> { @concurrent [connection] in
                // Whoever waits is told below; the status tells everybody.
                try? await connection.run(stopsAtFirstFailure: true)
            }
            task.withLock { $0 = running }
        }
        do {
            try await connection.waitForConnection(stood: stood, ended: ended)
        } catch {
            if isFirst { await disconnect() }
            throw error
        }
    }

    public func disconnect() async {
        await connection.stop()
    }

    public var status: ConnectionStatus { connection.line.current.statuses.last ?? .offline }

    /// The calls that wait for a connection; those that stubs are about are not counted.
    public var load: TransportLoad { TransportLoad(waiting: waitingCallCount) }

    public func statusUpdates() -> AsyncStream<ConnectionStatus> { connection.statusUpdates() }
}

extension StubRealTimeTransport: CallQueueing {
    package func failUnsentCalls(where isStale: @Sendable (ServiceRequest) -> Bool) {
        connection.line.update { $0.failUnsent(where: isStale) }
    }
}

public import FeathersCore
import FeathersNetworking
import FeathersSupport
public import Foundation

/// Carries service requests over a Socket.IO connection and brings the server's events, as FeathersJS' Socket.IO client does.
///
/// One transport is one connection, shared by every service of an app. It connects when told to, with ``run()`` or
/// ``connect()``, and connects again as its policy says. Calls are sent in the order they are made; those made without a connection
/// wait for one. Every call ends: with its answer, its deadline, its cancellation, or the loss of the connection it was sent over.
public final class SocketIOTransport: RealTimeTransport, TextTransport {
    let core: SocketIOClient
    /// The one task that is nobody's child: what ``connect()`` began. It holds the core, never the transport or an app.
    private let task = Locked<Task<Void, Never>?>(nil)

    /// A transport that does nothing until it is told to connect; `.socketIO(url)` is the short way.
    /// - Parameters:
    ///   - url: where the server is; scheme, host and port count, and a query is sent with the first requests. Its path does not.
    ///   - options: how to connect, call and listen.
    public init(_ url: URL, options: Options = Options()) {
        let timebase = RelativeClock(options.clock)
        let opener = Result { () throws(FeathersError) in
            EngineOpener(
                address: try EngineAddress(url, path: options.path), transports: options.transports,
                connector: options.webSocketConnector ?? PlatformWebSocketConnector.make(),
                makeClient: { [client = options.httpClient] in client ?? PlatformHTTPClient.make() },
                limit: options.maximumMessageSize, timebase: timebase)
        }
        core = SocketIOClient(opener: opener, options: options, timebase: timebase)
    }

    deinit {
        task.withLock { $0 }?.cancel()
    }

    /// Sends a request and waits for its acknowledgement.
    ///
    /// Its time is `params.timeout`, else the transport's; waiting for a connection counts. Cancelling the task forgets the call
    /// and leaves the connection alone: the server may execute it all the same.
    /// - Throws: the server's ``FeathersError``. ``FeathersError/Code/timeout`` and ``FeathersError/Code/unavailable`` where no answer
    ///   came, with the truth about whether the call was sent. Code 413 where it is larger than the server accepts,
    ///   ``FeathersError/Code/badRequest`` where it cannot be written. `CancellationError` when cancelled.
    public func send(_ request: ServiceRequest) async throws -> JSONValue {
        try await core.call(request)
    }

    public func deliver(to sink: EventSink) {
        core.state.withLock { $0.sink = sink }
    }

    public func addConnectionSetup(_ setup: ConnectionSetup) {
        core.state.withLock { $0.setups.append(setup) }
    }

    /// Connects, and connects again as the policy says, until the task is cancelled or the connection is closed for good.
    ///
    /// It returns after ``disconnect()`` and when the task is cancelled.
    /// - Throws: ``FeathersError`` where the connection is closed for good, saying why;
    ///   ``FeathersError/Code/conflict`` where the transport is running already.
    public func run() async throws {
        guard core.start().isFirst else {
            throw FeathersError(.conflict, "The transport is running already", execution: .neverSent)
        }
        try await core.run(stopsAtFirstFailure: false)
    }

    /// Begins what ``run()`` does and returns once the first connection stands; then ``disconnect()`` ends it.
    ///
    /// While the transport is running already this waits for its connection. An attempt of its own that fails is not repeated:
    /// what throws has left nothing running.
    /// - Throws: ``FeathersError`` saying why there is no connection, `CancellationError` when cancelled.
    public func connect() async throws {
        try Task.checkCancellation()
        let (outcome, isOurs) = begin()
        do {
            try await outcome.value()
        } catch {
            if isOurs { await disconnect() }
            throw error
        }
    }

    /// Says good-bye to the server and returns when the connection has ended; does nothing where there is none.
    public func disconnect() async {
        await core.stop()
    }

    public var status: ConnectionStatus { core.status.current }

    public func statusUpdates() -> AsyncStream<ConnectionStatus> { core.status.updates() }

    /// Every event the server sends, those of services included, from now on.
    ///
    /// The reader may answer where the server asks for it, see ``SocketIOEvent/acknowledgement``.
    /// - Parameter limit: how many events wait for a slow reader before the oldest are dropped.
    public func events(buffering limit: Int = 1024) -> AsyncStream<SocketIOEvent> {
        core.observers.stream(buffering: limit)
    }

    /// Tries again at once where the next attempt to connect would come after a delay; for apps that know the network is back.
    public func retryNow() {
        core.retryNow()
    }

    /// How many calls wait to be sent or answered.
    package var pendingCallCount: Int { core.pendingCalls }

    public var load: TransportLoad { core.load }

    private func begin() -> (outcome: Promise<Void>, isOurs: Bool) {
        let (isFirst, outcome) = core.start()
        guard isFirst else { return (outcome, false) }
        let running = Task<Void, Never> { @concurrent [core] in
            // The promise tells whoever waits; the status tells everybody.
            try? await core.run(stopsAtFirstFailure: true)
        }
        task.withLock { $0 = running }
        return (outcome, true)
    }
}

extension Transport where Self == SocketIOTransport {
    /// A transport over Socket.IO: `FeathersApp(transport: .socketIO(url))`.
    /// - Parameters:
    ///   - url: where the server is; its path does not count.
    ///   - configure: changes the options, for example `{ $0.callTimeout = .seconds(30) }`.
    public static func socketIO(_ url: URL, _ configure: (inout SocketIOTransport.Options) -> Void = { _ in }) -> SocketIOTransport {
        var options = SocketIOTransport.Options()
        configure(&options)
        return SocketIOTransport(url, options: options)
    }
}

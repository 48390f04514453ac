public import FeathersCore
import FeathersNetworking
package import FeathersSupport
public import Foundation

/// Sends service requests over a Socket.IO connection and delivers the server's events, like FeathersJS' Socket.IO client.
///
/// A transport is one connection, shared by all services of an app. ``run()`` or ``connect()`` starts it, and it connects again as
/// its policy says. Calls are sent in the order they are made; calls made without a connection wait for one. Every call ends: with
/// its result, at its deadline, when it is cancelled, or when the connection it was sent over is lost.
public final class SocketIOTransport: RealTimeTransport, CallQueueing, AddressedTransport {
    package let origin: Origin?
    let client: SocketIOClient
    /// The task that ``connect()`` started. It holds the client, never the transport or an app.
    private let task = Locked<Task<Void, Never>?>(nil)

    package init(_ url: URL, options: Options = Options()) {
        origin = Origin(url)
        let timebase = RelativeClock(options.clock)
        let opener = Result { () throws(FeathersError) in
            EngineOpener(
                address: try EngineAddress(url, path: options.path), transports: options.transports,
                connector: options.webSocketConnector ?? PlatformWebSocketConnector.make(),
                makeClient: { [httpClient = options.httpClient] in httpClient ?? PlatformHTTPClient.make() },
                limit: options.maximumMessageSize, timebase: timebase)
        }
        client = SocketIOClient(opener: opener, options: options, timebase: timebase)
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// Sends a request and waits for its acknowledgement.
    ///
    /// The call's time is `params.timeout`, else the transport's `callTimeout`, including the wait for a connection. Cancelling the task ends
    /// the call and leaves the connection open; the server may still execute the call.
    /// - Throws: the server's ``FeathersError``. ``FeathersError/Code/timeout`` or ``FeathersError/Code/unavailable`` if no answer
    ///   came; `execution` says whether the call was sent. Code 413 if it is larger than the server accepts,
    ///   ``FeathersError/Code/badRequest`` if it cannot be written. `CancellationError` when cancelled.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse { try await client.call(request) }

    public func endCalls() { client.endCalls() }
    public func deliver(to sink: EventSink) { client.state.withLock { $0.sink = sink } }
    public func use(connectionSetup setup: ConnectionSetup) { client.state.withLock { $0.setups.append(setup) } }

    /// Connects, and connects again as the policy says, until ``disconnect()``, cancellation or a permanent end.
    /// - Throws: ``FeathersError`` saying why the connection is closed permanently;
    ///   ``FeathersError/Code/conflict`` if the transport is running already.
    public func run() async throws {
        guard client.start().isFirst else { throw FeathersError(.conflict, "The transport is running already", execution: .neverSent) }
        try await client.run(stopsAtFirstFailure: false)
    }

    /// Starts what ``run()`` does and returns once the first connection is open; ``disconnect()`` ends it.
    ///
    /// If the transport is running already, this waits for its connection. Otherwise a failed first attempt is not repeated: when this
    /// throws, nothing is left running.
    /// - Throws: ``FeathersError`` saying why there is no connection, `CancellationError` when cancelled.
    public func connect() async throws {
        try Task.checkCancellation()
        let (isFirst, outcome) = client.start()
        if isFirst {
            let running = Task<Void, Never> { @concurrent [client] in
                // Callers learn of the error from the outcome, all others from the status.
                try? await client.run(stopsAtFirstFailure: true)
            }
            task.withLock { $0 = running }
        }
        do {
            try await outcome.value()
        } catch {
            if isFirst { await disconnect() }
            throw error
        }
    }

    /// Disconnects from the server and returns when the connection has ended; does nothing if there is none.
    public func disconnect() async { await client.stop() }

    public var status: ConnectionStatus { client.status.current }
    public func statusUpdates() -> AsyncStream<ConnectionStatus> { client.status.updates() }

    /// Every event the server sends from now on, including the events of services.
    ///
    /// If the server asks for an acknowledgement, the reader can answer, see ``SocketIOEvent/acknowledgement``.
    /// - Parameter limit: how many events wait for a slow reader before the oldest are dropped.
    public func events(buffering limit: Int = 1024) -> AsyncStream<SocketIOEvent> {
        client.observers.subscribe(to: nil, buffering: limit).events()
    }

    /// Ends the delay before the next attempt to connect, for apps that know the network is back.
    public func retryNow() { client.retryNow() }

    public var load: TransportLoad { client.load }
    package func failUnsentCalls(where isStale: @Sendable (ServiceRequest) -> Bool) { client.failUnsent(where: isStale) }
}

extension Transport where Self == SocketIOTransport {
    /// A transport that does nothing until it is connected: `FeathersApp(transport: .socketIO(url))`.
    /// - Parameters:
    ///   - url: the server's scheme, host and port. A query is sent with the opening requests; a path is ignored.
    ///   - configure: changes the options, for example `{ $0.callTimeout = .seconds(30) }`.
    public static func socketIO(_ url: URL, _ configure: (inout SocketIOTransport.Options) -> Void = { _ in }) -> SocketIOTransport {
        var options = SocketIOTransport.Options()
        configure(&options)
        return SocketIOTransport(url, options: options)
    }
}

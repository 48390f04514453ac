public import FeathersCore
import FeathersNetworking
package import FeathersSupport
public import Foundation

/// A transport that sends service requests over a Socket.IO connection and delivers the server's events, like
/// FeathersJS' Socket.IO client.
///
/// A transport is a single connection, shared by all services of an app. Start it with ``run()`` or ``connect()``; it
/// then reconnects as its policy specifies. Calls are sent in the order they are made. Calls made without a connection
/// wait for one. Every call ends: with its result, at its deadline, when it is cancelled, or when the connection it was
/// sent over is lost.
///
/// ## Topics
///
/// ### The connection
/// - ``run()``
/// - ``connect()``
/// - ``disconnect()``
/// - ``retryNow()``
/// - ``status``
/// - ``statusUpdates()``
/// - ``use(connectionSetup:)``
///
/// ### Calls and events
/// - ``send(_:)``
/// - ``endCalls()``
/// - ``deliver(to:)``
/// - ``events(bufferingNewest:)``
/// - ``load``
///
/// ### Settings
/// - ``Options``
/// - ``EngineTransport``
/// - ``OfflineCalls``
public final class SocketIOTransport: RealTimeTransport, CallQueueing, AddressedTransport, ConnectionReplacing,
    TimeLimitingTransport
{
    package let origin: Origin?
    package let callTimeout: Duration?
    let socketClient: SocketIOClient
    private let runner: ConnectionRunner

    /// Creates a transport that stays idle until it is connected. `.socketIO(url)` is shorthand for this initializer.
    /// - Parameters:
    ///   - url: The server's scheme, host, and port. A query is sent with the opening requests; a path is ignored.
    ///   - configure: A closure that changes the options, for example `{ $0.callTimeout = .seconds(30) }`.
    public convenience init(_ url: URL, _ configure: (inout Options) -> Void = { _ in }) {
        var options = Options()
        configure(&options)
        self.init(url, options: options)
    }

    package init(_ url: URL, options: Options) {
        origin = Origin(url)
        callTimeout = options.callTimeout
        let timebase = RelativeClock(options.clock)
        let opener = Result { () throws(FeathersError) in
            EngineOpener(
                address: try EngineAddress(url, path: options.path), transports: options.transports,
                connector: options.webSocketConnector ?? PlatformWebSocketConnector.make(),
                makeClient: { [httpClient = options.httpClient] in
                    httpClient ?? PlatformHTTPClient.make(isShared: false)
                },
                limit: options.maximumMessageSize, keepsCookies: options.keepsCookies, timebase: timebase)
        }
        socketClient = SocketIOClient(opener: opener, options: options, timebase: timebase)
        runner = ConnectionRunner(socketClient)
    }

    /// Sends a request and waits for its acknowledgement.
    ///
    /// The time limit is `params.timeout`, or the transport's `callTimeout` if not set, and includes the wait for a
    /// connection. Canceling the task ends the call and leaves the connection open. The server may still execute the
    /// call.
    /// - Throws: The server's ``FeathersError``. ``FeathersError/Code/timeout`` or ``FeathersError/Code/unavailable``
    ///   if no response arrived; `execution` says whether the call was sent. Code 413 if the call is larger than the
    ///   server accepts, or ``FeathersError/Code/badRequest`` if it cannot be serialized, or if its header fields name
    ///   a user (see ``Params/headers``). `CancellationError` if the task was cancelled.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        Diagnostics.current.isSent(over: "socketio")
        return try await socketClient.call(request)
    }

    public func endCalls() { socketClient.endCalls() }
    public func deliver(to sink: EventSink) { socketClient.state.withLock { $0.sink = sink } }
    public func use(connectionSetup setup: ConnectionSetup) { socketClient.state.withLock { $0.setups.append(setup) } }

    /// Connects, and reconnects as the policy specifies, until ``disconnect()``, cancellation, or a permanent end.
    /// - Throws: ``FeathersError`` with the reason why the connection is closed permanently, or
    ///   ``FeathersError/Code/conflict`` if the transport is already running.
    public func run() async throws { try await runner.run() }

    /// Starts the connection as ``run()`` does, and returns when the first connection is open. End it with
    /// ``disconnect()``.
    ///
    /// If the transport is already running, this method waits for its connection. Otherwise, a failed first attempt
    /// isn't repeated: if this method throws, nothing is left running.
    /// - Throws: ``FeathersError`` with the reason why there is no connection, or `CancellationError` if the task was
    ///   cancelled.
    public func connect() async throws { try await runner.connect() }

    /// Disconnects from the server and returns when the connection has ended. A no-op if there is no connection.
    public func disconnect() async { await socketClient.stop() }

    public var status: ConnectionStatus { socketClient.status.current }
    public func statusUpdates() -> AsyncStream<ConnectionStatus> { socketClient.status.updates() }

    /// Returns every event that the server sends from now on, including service events.
    ///
    /// If the server requests an acknowledgement, the reader can reply (see ``SocketIOEvent/acknowledgement``).
    /// - Parameter limit: The number of events to buffer for a slow reader before the oldest are dropped.
    public func events(bufferingNewest limit: Int = 1024) -> AsyncStream<SocketIOEvent> {
        socketClient.observers.subscribe(to: nil, bufferingNewest: limit).events()
    }

    /// Ends the delay before the next attempt to connect. Call it if your app knows that the network is available
    /// again.
    public func retryNow() { socketClient.retryNow() }

    package func retireConnection() -> Bool { socketClient.retire() }
    package func replaceConnection() { socketClient.replace() }

    public var load: TransportLoad { socketClient.load }
    package func failUnsentCalls(where isStale: @Sendable (ServiceRequest) -> Bool) {
        socketClient.failUnsent(where: isStale)
    }
}

extension Transport where Self == SocketIOTransport {
    /// Creates a transport over Socket.IO, as its initializer does: `FeathersApp(transport: .socketIO(url))`.
    public static func socketIO(_ url: URL, _ configure: (inout SocketIOTransport.Options) -> Void = { _ in })
        -> SocketIOTransport
    {
        SocketIOTransport(url, configure)
    }
}

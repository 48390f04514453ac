public import FeathersCore
import FeathersNetworking
public import FeathersSupport
public import Foundation

/// A transport for FeathersJS 6: calls over HTTP, and events from a stream of server-sent events. Experimental, because
/// version 6 isn't released.
///
/// Calls need no connection. Events arrive once the stream is open: start it with ``run()`` or ``connect()``, or with
/// `withFeathersApp`; it then reconnects as its policy specifies. The server knows the user of a stream only from the
/// header fields that opened it, so the stream is opened again, with a gap, after a sign-in, a token refresh, and a
/// log-out.
///
/// ## Topics
///
/// ### The event stream
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
/// - ``deliver(to:)``
/// - ``components``
///
/// ### Settings
/// - ``Options``
public final class Feathers6Transport: RealTimeTransport, CompositeTransport, ReopeningTransport {
    package let rest: RESTTransport
    let events: EventStreamClient
    private let runner: ConnectionRunner

    /// Creates a transport for a FeathersJS 6 server. `.feathers6(url)` is shorthand for this initializer. Experimental.
    /// - Parameters:
    ///   - url: The URL of the server, for example `https://api.example.com/v1`, with or without a trailing slash.
    ///   - configure: A closure that changes the options, for example `{ $0.path = "events" }`.
    public convenience init(_ url: URL, _ configure: (inout Options) -> Void = { _ in }) {
        var options = Options()
        configure(&options)
        self.init(url, options: options)
    }

    package init(_ url: URL, options: Options) {
        rest = RESTTransport(
            url, headers: options.headers, timeout: options.callTimeout, queryOptions: options.queryOptions,
            maximumResponseBytes: options.maximumResponseBytes, maximumEventBytes: options.maximumEventBytes,
            sendsEmptyObjects: true,
            httpClient: options.httpClient)
        // Ending all calls must not end the stream, so it has a client of its own.
        events = EventStreamClient(
            rest.builder, options: options, httpClient: options.httpClient ?? PlatformHTTPClient.make(),
            timebase: RelativeClock(options.clock))
        runner = ConnectionRunner(events)
    }

    public var components: [any Transport] { [rest] }

    /// Sends a request over HTTP, whether or not the event stream is open.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        if request.isSafeToRepeat { events.noteRead() }
        return try await rest.send(request)
    }

    public func deliver(to sink: EventSink) { events.state.withLock { $0.sink = sink } }
    public func use(connectionSetup setup: ConnectionSetup) { events.state.withLock { $0.setups.append(setup) } }

    /// Opens the event stream, and reopens it as the policy specifies, until ``disconnect()``, cancellation, or a
    /// permanent end.
    ///
    /// If the server refuses the stream because no user is signed in, this method waits for the next sign-in.
    /// - Throws: ``FeathersError`` with the reason why the stream is closed permanently, or
    ///   ``FeathersError/Code/conflict`` if the transport is already running.
    public func run() async throws { try await runner.run() }

    /// Opens the event stream as ``run()`` does, and returns when it is open. End it with ``disconnect()``.
    ///
    /// If the transport is already running, this method waits for its stream. Otherwise, a failed first attempt isn't
    /// repeated: if this method throws, nothing is left running.
    /// - Throws: ``FeathersError`` with the reason why there is no stream, or `CancellationError` if the task was
    ///   cancelled.
    public func connect() async throws { try await runner.connect() }

    /// Closes the event stream, and returns when it has ended. A no-op if there is none.
    public func disconnect() async { await events.stop() }

    public var status: ConnectionStatus { events.status.current }
    public func statusUpdates() -> AsyncStream<ConnectionStatus> { events.status.updates() }

    /// Ends the delay before the next attempt to open the stream. Call it if your app knows that the network is
    /// available again.
    public func retryNow() { events.retryNow() }

    package func reopen() { events.reopen() }
}

extension Feathers6Transport: SecretHiding {
    public var description: String { "Feathers6Transport(\(rest.builder.base))" }
}

extension Feathers6Transport.Options: SecretHiding {
    public var description: String { "Feathers6Transport.Options(path: \(path.debugDescription))" }
}

extension Transport where Self == Feathers6Transport {
    /// Creates a transport for a FeathersJS 6 server, as its initializer does: `FeathersApp(transport:
    /// .feathers6(url))`. Experimental.
    public static func feathers6(_ url: URL, _ configure: (inout Feathers6Transport.Options) -> Void = { _ in })
        -> Feathers6Transport
    {
        Feathers6Transport(url, configure)
    }
}

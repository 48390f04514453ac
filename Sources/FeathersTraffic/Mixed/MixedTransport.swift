public import FeathersCore
import FeathersSupport

/// A connection and REST in one app: calls go the way their routes say, events come over the connection.
///
/// ```swift
/// let app = FeathersApp(
///     transport: .mixed(realTime: .socketIO(url), rest: .rest(url)) { routes in
///         routes["reports"] = .rest
///     })
/// ```
///
/// Both lead to the same server, which pushes the events of all changes over the connection, those of REST calls included. While no connection
/// stands, calls do what ``TransportRoutes/fallback`` says: reads go over REST. No call is made twice unless it only reads or was never sent.
/// Where REST fails too, its error is the call's.
public struct MixedTransport: RealTimeTransport, CompositeTransport, CallAbandoningTransport, TextTransport {
    private let realTime: any RealTimeTransport
    private let rest: any Transport
    private let routes: TransportRoutes
    private let timebase: RelativeClock

    /// A connection and a way beside it; `.mixed(realTime:rest:)` is the short way.
    /// - Parameters:
    ///   - realTime: what keeps the connection.
    ///   - rest: the way beside it: REST, JSON:API or whatever needs no connection.
    ///   - routes: which calls go which way.
    ///   - clock: what is left of a call's timeout is measured on, when it goes over REST after it was tried over the connection.
    public init(
        realTime: any RealTimeTransport, rest: any Transport, routes: TransportRoutes = TransportRoutes(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.realTime = realTime
        self.rest = rest
        self.routes = routes
        timebase = RelativeClock(clock)
    }

    public var components: [any Transport] { [realTime, rest] }

    /// Sends a request the way its route says, and over REST where no connection stands and that is allowed.
    /// - Throws: what the transport throws that the request went over last.
    public func send(_ request: ServiceRequest) async throws -> JSONValue {
        let connectionCall = request.params[ConnectionCall.self]
        guard routes.way(of: request) == .realTime else { return try await sendBeside(request, connectionCall) }
        guard connectionCall != nil || routes.permitsFallback(request) else { return try await realTime.passOn(request) }
        guard case .connected = realTime.status else {
            report(request)
            return try await sendBeside(request, connectionCall)
        }

        let start = request.params.timeout == nil ? nil : timebase.now
        var attempt = request
        // What the connection can not take at once goes the other way, rather than wait.
        attempt.params.isVolatile = true
        do {
            return try await realTime.passOn(attempt)
        } catch let error as FeathersError where error.code == .unavailable && error.permitsAnotherWay(request) {
            var request = request
            if let start, let timeout = request.params.timeout {
                let left = timeout - (timebase.now - start)
                guard left > .zero else { throw error }
                request.params.timeout = left
            }
            report(request)
            return try await sendBeside(request, connectionCall)
        }
    }

    private func report(_ request: ServiceRequest) {
        Diagnostics.current.log(
            .notice, .connection, "'\(request.method)' on service '\(request.path)' goes beside the connection, which is away",
            [.path: .string(request.path)])
    }

    private func sendBeside(_ request: ServiceRequest, _ connectionCall: ConnectionCall?) async throws -> JSONValue {
        connectionCall?.goesBeside()
        // Calls over the connection end with it.
        guard let abandonment = request.params[CallAbandonment.self] else { return try await rest.passOn(request) }
        return try await abandonment.run { [rest] in try await rest.passOn(request) }
    }
}

extension MixedTransport {
    public func deliver(to sink: EventSink) { realTime.deliver(to: sink) }

    public func addConnectionSetup(_ setup: ConnectionSetup) { realTime.addConnectionSetup(setup) }

    public func run() async throws { try await realTime.run() }

    public func connect() async throws { try await realTime.connect() }

    public func disconnect() async { await realTime.disconnect() }

    public var status: ConnectionStatus { realTime.status }

    public func statusUpdates() -> AsyncStream<ConnectionStatus> { realTime.statusUpdates() }

    /// What the connection holds: calls over REST wait for none.
    public var load: TransportLoad { realTime.load }
}

extension Transport where Self == MixedTransport {
    /// A connection and REST together: `FeathersApp(transport: .mixed(realTime: .socketIO(url), rest: .rest(url)))`.
    /// - Parameters:
    ///   - realTime: what keeps the connection.
    ///   - rest: the way beside it.
    ///   - configure: says which calls go which way, for example `{ $0["reports"] = .rest }`.
    public static func mixed(
        realTime: any RealTimeTransport, rest: any Transport, _ configure: (inout TransportRoutes) -> Void = { _ in }
    ) -> MixedTransport {
        var routes = TransportRoutes()
        configure(&routes)
        return MixedTransport(realTime: realTime, rest: rest, routes: routes)
    }
}

extension FeathersError {
    /// Whether a call that the connection failed like this may be made again over REST.
    fileprivate func permitsAnotherWay(_ request: ServiceRequest) -> Bool {
        switch execution {
        case .neverSent: true
        case .mayHaveExecuted: request.isSafeToRepeat
        case .answered: false
        }
    }
}

extension Transport {
    /// Sends a request, which asks for its result's text only where the transport knows what that is: another one could keep, or share, the null it
    /// would get in the result's place.
    fileprivate func passOn(_ request: ServiceRequest) async throws -> JSONValue {
        if request.resultText == nil || self is any TextTransport { return try await send(request) }
        var request = request
        request.resultText = nil
        return try await send(request)
    }
}

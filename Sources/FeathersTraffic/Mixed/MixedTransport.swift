public import FeathersCore
public import FeathersSupport

/// A transport that combines a connection and REST. Routes decide how each call is sent; events arrive over the
/// connection.
///
/// ```swift
/// let app = FeathersApp(
///     transport: .mixed(realTime: .socketIO(url), rest: .rest(url)) { routes in
///         routes["reports"] = .rest
///     })
/// ```
///
/// Both transports use the same server, which sends the events of all changes over the connection, including changes
/// made over REST. While there is no connection, ``TransportRoutes/fallback`` decides how calls are sent: by default,
/// reads fall back to REST. A call is sent twice only if it is a read or was never sent. If REST fails too, the call
/// fails with its error.
///
/// A query that a query string cannot carry, for example because an array has more elements than the server reads, goes
/// over the connection if that is open and the call has neither a token of its own nor header fields.
public struct MixedTransport: RealTimeTransport, CompositeTransport, ConnectionBypassing {
    private let realTimeTransport: any RealTimeTransport
    private let restTransport: any Transport
    private let routes: TransportRoutes
    private let timebase: RelativeClock
    private let reads = ReadsBesideConnection()
    package let requests: CallReach
    /// How often the calls in flight have been ended.
    private let endings = Locked(0)

    /// Creates a transport. `clock` measures how much of a call's timeout remains when it falls back to REST.
    /// Creates a transport that combines a connection and REST. `.mixed(realTime:rest:)` is shorthand for this
    /// initializer.
    /// - Parameters:
    ///   - realTime: The transport with the connection.
    ///   - rest: The transport without a connection: REST, JSON:API or another one.
    ///   - configure: Sets which calls use which transport, for example `{ $0["reports"] = .rest }`.
    public init(
        realTime: any RealTimeTransport, rest: any Transport, _ configure: (inout TransportRoutes) -> Void = { _ in }
    ) {
        var routes = TransportRoutes()
        configure(&routes)
        self.init(realTime: realTime, rest: rest, routes: routes)
    }

    package init(
        realTime: any RealTimeTransport, rest: any Transport, routes: TransportRoutes,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.realTimeTransport, self.restTransport, self.routes) = (realTime, rest, routes)
        timebase = RelativeClock(clock)
        requests = CallReach(clock: clock)
    }

    package var sendsCallsOverConnection: Bool { routes.usesConnection }

    public var components: [any Transport] { [realTimeTransport, restTransport] }

    /// Sends a request over the transport of its route, or over REST if there is no connection and the fallback permits
    /// it, or if the request has a token of its own or header fields.
    /// - Throws: The error of the transport that was used last.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        guard routes.route(of: request) == .realTime, !request.params.travelsByHTTP, request.uncarriedField == nil
        else {
            return try await sendBeside(request)
        }
        if request.params.endsConnection {
            do {
                return try await realTimeTransport.send(request)
            } catch let error as FeathersError where error.execution == .neverSent {
                return try await sendBeside(request)
            }
        }
        let signsConnectionIn = request.params.concernsConnection
        guard signsConnectionIn || routes.permitsFallback(request) else {
            return try await realTimeTransport.send(request)
        }
        guard isConnected else {
            report(request)
            return try await sendBeside(request)
        }

        let start = request.params.timeout == nil ? nil : timebase.now
        let ended = endings.withLock { $0 }
        var attempt = request
        // If the connection cannot send it immediately, it is sent over REST instead of waiting.
        attempt.params.isVolatile = true
        do {
            return try await realTimeTransport.send(attempt)
        } catch let error as FeathersError
            where error.code == .unavailable && error.permitsAnotherWay(request) && request.isCurrent
            && ended == endings.withLock({ $0 })
        {
            var request = request
            if let start {
                request.params.deductTimeout(since: start, on: timebase)
                guard request.params.timeout != .zero else { throw error }
            }
            report(request)
            return try await sendBeside(request)
        }
    }

    private var isConnected: Bool { if case .connected = realTimeTransport.status { true } else { false } }

    public func endCalls() {
        // Calls that end over the connection must not be sent again over REST.
        endings.withLock { $0 += 1 }
        for component in components { component.endCalls() }
    }

    private func report(_ request: ServiceRequest) {
        Diagnostics.current.log(
            .notice, .connection,
            "'\(request.method)' on service '\(request.path)' is sent over REST because there is no connection",
            [.path: .string(request.path)])
    }

    private func sendBeside(_ request: ServiceRequest) async throws -> ServiceResponse {
        if request.isSafeToRepeat, !isConnected { reads.add() }
        do {
            var response = try await sendByREST(request)
            if request.params.concernsConnection { response[WentBesideConnection.self] = true }
            return response
        } catch let error as FeathersError where error.cause is QueryStringRefusal && connectionCarries(request) {
            var request = request
            request.params.isVolatile = true
            return try await realTimeTransport.send(request)
        }
    }

    private func sendByREST(_ request: ServiceRequest) async throws -> ServiceResponse {
        let response: ServiceResponse
        do {
            response = try await restTransport.send(request)
        } catch {
            requests.failed(error)
            throw error
        }
        requests.succeeded()
        return response
    }

    /// Whether a request can be sent over the connection now. It carries neither header fields nor another user's
    /// token.
    private func connectionCarries(_ request: ServiceRequest) -> Bool {
        isConnected && !request.params.travelsByHTTP && request.uncarriedField == nil
    }

    public func deliver(to sink: EventSink) {
        // After a gap, records are read again, so earlier reads no longer matter.
        realTimeTransport.deliver(to: sink.beforeGaps { [reads] in _ = reads.take() })
        // Runs once the connection is prepared. A server that requires a sign-in sends no events before that, so that
        // events since an earlier read over REST were missed.
        realTimeTransport.use(
            connectionSetup: ConnectionSetup(accompany: { [reads] _ in
                if reads.take() { sink.receiveGap(.reconnected) }
            }))
    }

    public func use(connectionSetup setup: ConnectionSetup) { realTimeTransport.use(connectionSetup: setup) }
    public func run() async throws { try await realTimeTransport.run() }
    public func connect() async throws { try await realTimeTransport.connect() }
    public func disconnect() async { await realTimeTransport.disconnect() }
    public var status: ConnectionStatus { realTimeTransport.status }
    public func statusUpdates() -> AsyncStream<ConnectionStatus> { realTimeTransport.statusUpdates() }

    /// The load of the connection. Calls over REST do not wait for it.
    public var load: TransportLoad { realTimeTransport.load }
}

extension MixedTransport: SecretHiding {
    public var description: String {
        "MixedTransport(realTime: \(summarize(realTimeTransport)), rest: \(summarize(restTransport)))"
    }
}

extension Transport where Self == MixedTransport {
    /// Creates a transport that combines a connection and REST, as its initializer does: `FeathersApp(transport:
    /// .mixed(realTime: .socketIO(url), rest: .rest(url)))`.
    public static func mixed(
        realTime: any RealTimeTransport, rest: any Transport, _ configure: (inout TransportRoutes) -> Void = { _ in }
    ) -> MixedTransport {
        MixedTransport(realTime: realTime, rest: rest, configure)
    }
}

extension FeathersError {
    /// Returns whether a call that failed with this error over the connection can be sent again over REST.
    fileprivate func permitsAnotherWay(_ request: ServiceRequest) -> Bool {
        switch execution {
        case .neverSent: true
        case .mayHaveExecuted: request.isSafeToRepeat
        case .answered: false
        }
    }
}

/// Tracks whether records were read while there was no connection.
private final class ReadsBesideConnection: Sendable {
    private let state = Locked(false)

    func add() { state.withLock { $0 = true } }

    /// Returns whether there were any, and forgets them.
    func take() -> Bool {
        state.withLock { hasRead in
            defer { hasRead = false }
            return hasRead
        }
    }
}

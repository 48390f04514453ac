public import FeathersCore
public import FeathersSupport

/// A transport without a server, which responds with stubs and records the calls.
///
/// ```swift
/// let transport = StubTransport()
/// transport.stub("messages", .find, with: .value([["id": 1, "text": "Hi"]]))
/// let app = FeathersApp(transport: transport)
/// ```
///
/// Like REST, it has no connection: the app itself emits the events of its own calls. To connect and push events, use
/// ``StubRealTimeTransport``. Instances share no state.
public final class StubTransport: Transport, StubHost, SecretHiding {
    /// A function that returns the result of a call or throws an error.
    public typealias Responder = @Sendable (ServiceRequest) async throws -> JSONValue

    public let registry: StubRegistry<ServiceRequest, JSONValue>
    private let clock: RelativeClock
    /// How often all calls in flight have been ended.
    private let endings = ObservedState(0)

    private init(fallback: ServiceStub, clock: any Clock<Duration>) {
        registry = StubRegistry(fallback: fallback)
        self.clock = RelativeClock(clock)
    }

    /// Creates a strict stub: a call without a registered stub throws `FeathersError.Code.notImplemented`, which names
    /// the method and path.
    /// - Parameter clock: The clock for the timeouts of calls.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .strict, clock: clock)
    }

    /// Creates a stub that responds with the result of `respond` unless a stub is registered. An error that it throws
    /// fails the call.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), _ respond: @escaping Responder) {
        self.init(fallback: Stub(respond), clock: clock)
    }

    /// Creates a stub that responds with the results of services, by path, unless a stub is registered. Any other path
    /// is `FeathersError.Code.notFound`.
    public convenience init(services: [String: any ServiceProtocol], clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .services(services), clock: clock)
    }

    /// Creates a stub that passes calls without a registered stub on to another transport.
    public convenience init(passingThrough transport: any Transport, clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .passing(to: transport), clock: clock)
    }

    /// Responds to a call with its stub.
    /// - Throws: Any error from the stub, or ``FeathersError/Code/timeout`` if the call takes longer than
    ///   `params.timeout`.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        try Task.checkCancellation()
        let before = endings.current
        let result = try await registry.perform(registry.take(request)) { work in
            try await racing {
                try await self.clock.run(atMost: request.params.timeout, orThrow: FeathersError.unansweredStub, work)
            } against: {
                try await self.endings.wait { $0 != before }
                let message = "The app was shut down before the response arrived"
                return .failure(FeathersError(.unavailable, message, execution: .mayHaveExecuted))
            }
        }
        return ServiceResponse(result)
    }

    public func endCalls() { endings.update { $0 += 1 } }
}

extension FeathersError {
    /// The error of a call whose response did not arrive in time.
    static var unansweredStub: FeathersError {
        FeathersError(.timeout, "No response arrived in time", execution: .mayHaveExecuted)
    }
}

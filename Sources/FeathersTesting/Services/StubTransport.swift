public import FeathersCore
import FeathersSupport

/// A transport without a server: answers with stubs and remembers the calls.
///
/// ```swift
/// let transport = StubTransport()
/// transport.stub("messages", .find, with: .value([["id": 1, "text": "Hi"]]))
/// let app = FeathersApp(transport: transport)
/// ```
///
/// It keeps no connection, as REST does not: the app itself emits the events of its own calls. ``StubRealTimeTransport`` is the one that
/// connects and pushes. Each stub is its own: two of them never meet.
public final class StubTransport: Transport, StubHost {
    /// Answers a call with a result, or throws an error.
    public typealias Answer = @Sendable (ServiceRequest) async throws -> JSONValue

    public let book: StubRegistry<ServiceRequest, JSONValue>
    private let clock: RelativeClock
    /// How often the calls in flight were ended.
    private let endings = ObservedState(0)

    private init(fallback: ServiceStub, clock: any Clock<Duration>) {
        book = StubRegistry(fallback: fallback)
        self.clock = RelativeClock(clock)
    }

    /// A strict stub: a call for which nothing is registered throws `FeathersError.Code.notImplemented`, naming method and path.
    /// - Parameter clock: what the timeouts of calls are measured on.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) { self.init(fallback: .strict, clock: clock) }

    /// A stub that answers with what `answer` returns or throws, unless a stub is registered.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), _ answer: @escaping Answer) {
        self.init(fallback: Stub(answer), clock: clock)
    }

    /// A stub that answers as the given services would, by path, unless a stub is registered; any other path is
    /// `FeathersError.Code.notFound`.
    public convenience init(services: [String: any ServiceProtocol], clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .services(services), clock: clock)
    }

    /// A stub that hands on to another transport whatever no stub is registered for.
    public convenience init(passingThrough transport: any Transport, clock: any Clock<Duration> = ContinuousClock()) {
        self.init(fallback: .passing(to: transport), clock: clock)
    }

    /// Answers a call with its stub.
    /// - Throws: what the stub throws, and ``FeathersError/Code/timeout`` where it takes longer than `params.timeout`.
    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        try Task.checkCancellation()
        let before = endings.current
        let result = try await book.perform(book.take(request)) { work in
            try await racing {
                try await self.clock.run(atMost: request.params.timeout, orThrow: FeathersError.unansweredStub, work)
            } against: {
                try await self.endings.wait { $0 != before }
                return FeathersError(.unavailable, "The app was shut down before the answer came", execution: .mayHaveExecuted)
            }
        }
        return ServiceResponse(result)
    }

    public func endCalls() { endings.update { $0 += 1 } }
}

extension FeathersError {
    /// What a call ends with when no answer came in its time.
    static var unansweredStub: FeathersError { FeathersError(.timeout, "No answer came in time", execution: .mayHaveExecuted) }
}

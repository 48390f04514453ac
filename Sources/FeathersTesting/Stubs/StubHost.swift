/// A type that responds with stubs and records what it receives: a stub transport or a stub HTTP client.
///
/// The stub that describes a call most specifically responds: a condition takes precedence over a name, and a name with
/// more parts over one with fewer. Between equals, the stub registered last responds. Registering a stub for the same
/// name replaces the earlier one.
///
/// ## Topics
///
/// ### Stubs
/// - ``stub(_:with:)``
/// - ``stub(method:with:)``
/// - ``stub(where:with:)``
/// - ``removeStub(_:)``
/// - ``removeAllStubs()``
///
/// ### What arrived
/// - ``requests``
/// - ``calls``
/// - ``calls(of:_:)``
/// - ``calls(to:_:)``
/// - ``waitForRequest(number:)``
/// - ``waitForOutcome(number:)``
public protocol StubHost: Sendable {
    /// The type of requests.
    associatedtype Request: Sendable
    /// The type of responses.
    associatedtype Response: Sendable

    /// The registered stubs and recorded calls.
    var registry: StubRegistry<Request, Response> { get }
}

extension StubHost {
    /// Registers a stub for the calls that meet a condition.
    ///
    /// Conditions are tried from the latest to the earliest until one is met. Each may be evaluated for every call.
    @discardableResult
    public func stub(where condition: @escaping @Sendable (Request) -> Bool, with stub: Stub<Request, Response>)
        -> StubRegistration
    {
        registry.change { $0.add(stub, for: .condition(condition)) }
    }

    /// Removes a stub. Calls that have already arrived are not affected.
    public func removeStub(_ registration: StubRegistration) { registry.change { $0.remove(registration) } }

    /// Removes all stubs.
    public func removeAllStubs() { registry.change { $0.removeAll() } }

    /// The calls received so far, in order, with their outcomes.
    public var calls: [RecordedCall<Request, Response>] { registry.calls }

    /// The requests received so far, in order.
    public var requests: [Request] { registry.calls.map(\.request) }

    /// Waits until this many requests have arrived, and returns the last of them.
    /// - Parameter number: The number of the request, counted from 1.
    /// - Throws: `CancellationError` if the task is cancelled.
    @discardableResult
    public func waitForRequest(number: Int) async throws -> Request {
        try await registry.wait { $0.count >= number }
        return registry.calls[number - 1].request
    }

    /// Waits until a call has ended, and returns it with its outcome.
    /// - Parameter number: The number of the call among all calls, counted from 1.
    /// - Throws: `CancellationError` if the task is cancelled.
    @discardableResult
    public func waitForOutcome(number: Int) async throws -> RecordedCall<Request, Response> {
        try await registry.wait { $0.count >= number && $0[number - 1].outcome != nil }
        return registry.calls[number - 1]
    }
}

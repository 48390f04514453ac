/// Something that answers with stubs and remembers what it was asked: a stub transport, a stub HTTP client.
///
/// A call is answered by the stub that describes it most closely: one with a condition goes before one with a name, a name of more
/// parts before one of fewer, and of two equals the one registered last. Registering for the same name again replaces.
public protocol StubHost: Sendable {
    /// What is asked.
    associatedtype Request: Sendable
    /// What is answered.
    associatedtype Response: Sendable

    /// Its stubs and calls.
    var book: StubRegistry<Request, Response> { get }
}

extension StubHost {
    /// Answers calls that fulfil a condition with a stub.
    ///
    /// Conditions are tried from the latest on until one holds; each may be asked about every call.
    @discardableResult
    public func stub(where condition: @escaping @Sendable (Request) -> Bool, with stub: Stub<Request, Response>) -> StubRegistration {
        book.change { $0.add(stub, for: .condition(condition)) }
    }

    /// Takes a stub back; calls that have come already are not touched.
    public func removeStub(_ registration: StubRegistration) { book.change { $0.remove(registration) } }

    /// Takes every stub back.
    public func removeAllStubs() { book.change { $0.removeAll() } }

    /// The calls that have come so far, in order, with what became of them.
    public var calls: [RecordedCall<Request, Response>] { book.calls }

    /// The requests that have come so far, in order.
    public var requests: [Request] { book.calls.map(\.request) }

    /// Waits until so many requests have come, and returns the last of them.
    /// - Parameter number: counts from 1.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func waitForRequest(number: Int) async throws -> Request {
        try await book.wait { $0.count >= number }
        return book.calls[number - 1].request
    }

    /// Waits until a call has ended, and returns it with what became of it.
    /// - Parameter number: its place among all calls, from 1 on.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func waitForOutcome(number: Int) async throws -> RecordedCall<Request, Response> {
        try await book.wait { $0.count >= number && $0[number - 1].outcome != nil }
        return book.calls[number - 1]
    }
}

import FeathersCore
import FeathersSupport

/// The stubs of one transport or HTTP client, and the calls it has received.
///
/// Every transport and client has its own registry, so instances share no state.
public final class StubRegistry<Request: Sendable, Response: Sendable>: Sendable {
    /// A call that has arrived: its number among all calls, and the work for it.
    struct Taken: Sendable {
        let number: Int
        let request: Request
        /// Whether a stub was registered for the call.
        let isStubbed: Bool
        let work: Stub<Request, Response>.Work
    }

    private let rules = Locked(StubRules<Request, Response>())
    private let recorded = ObservedState<[RecordedCall<Request, Response>]>([])
    /// The stub for calls without a registered stub.
    private let fallback: Stub<Request, Response>

    init(fallback: Stub<Request, Response>) { self.fallback = fallback }

    var calls: [RecordedCall<Request, Response>] { recorded.current }
    func change<Result: Sendable>(_ change: (inout StubRules<Request, Response>) -> Result) -> Result {
        rules.withLock(change)
    }

    /// Records a call and finds its stub. Conditions and choices run here once, outside any lock.
    func take(_ request: Request) -> Taken {
        let number = recorded.update { calls in
            calls.append(RecordedCall(request: request))
            return calls.count - 1
        }
        let stub = rules.withLock(\.inOrder).first { $0.selector.matches(request) }?.stub
        return Taken(number: number, request: request, isStubbed: stub != nil, work: (stub ?? fallback).take(request))
    }

    /// Records the outcome of a call.
    func finish(_ number: Int, _ outcome: Result<Response, any Error>) {
        recorded.update { $0[number].outcome = outcome }
    }

    /// Performs the work for a call and records its outcome.
    func perform(_ taken: Taken, _ run: (@escaping Stub<Request, Response>.Work) async throws -> Response) async throws
        -> Response
    {
        do {
            let response = try await run(taken.work)
            finish(taken.number, .success(response))
            return response
        } catch {
            finish(taken.number, .failure(error))
            throw error
        }
    }

    func wait(until condition: @escaping @Sendable ([RecordedCall<Request, Response>]) -> Bool) async throws {
        try await recorded.wait(until: condition)
    }
}

/// A call received by a stub transport or stub HTTP client, and its outcome.
public struct RecordedCall<Request: Sendable, Response: Sendable>: Sendable {
    /// The call as it was received.
    public let request: Request

    /// The response or the error; nil while the call is in flight.
    public internal(set) var outcome: Result<Response, any Error>?

    /// The response; nil if there isn't one.
    public var response: Response? { try? outcome?.get() }

    /// The error; nil if the call has not failed.
    public var error: (any Error)? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}

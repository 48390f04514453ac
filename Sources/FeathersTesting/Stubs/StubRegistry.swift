import FeathersCore
import FeathersSupport

/// The stubs of one transport or HTTP client, and the calls that came to it.
///
/// Every transport and client has its own, so that no two ever meet.
public final class StubRegistry<Request: Sendable, Response: Sendable>: Sendable {
    /// A call that has come: its place among all calls, and what is to be done for it.
    struct Taken: Sendable {
        let number: Int
        let request: Request
        /// Whether a stub was registered for it.
        let isStubbed: Bool
        let work: Stub<Request, Response>.Work
    }

    private let rules = Locked(StubRules<Request, Response>())
    private let recorded = ObservedState<[RecordedCall<Request, Response>]>([])
    /// Answers what nothing is registered for.
    private let fallback: Stub<Request, Response>

    init(fallback: Stub<Request, Response>) { self.fallback = fallback }

    var calls: [RecordedCall<Request, Response>] { recorded.current }
    func change<Result: Sendable>(_ change: (inout StubRules<Request, Response>) -> Result) -> Result { rules.withLock(change) }

    /// Records a call and finds its stub. Conditions and choices run here, once, outside of any lock.
    func take(_ request: Request) -> Taken {
        let number = recorded.update { calls in
            calls.append(RecordedCall(request: request))
            return calls.count - 1
        }
        let stub = rules.withLock(\.inOrder).first { $0.selector.matches(request) }?.stub
        return Taken(number: number, request: request, isStubbed: stub != nil, work: (stub ?? fallback).take(request))
    }

    /// Writes down what became of a call.
    func finish(_ number: Int, _ outcome: Result<Response, any Error>) { recorded.update { $0[number].outcome = outcome } }

    /// Does what is to be done for a call and writes down what became of it.
    func perform(_ taken: Taken, _ run: (@escaping Stub<Request, Response>.Work) async throws -> Response) async throws -> Response {
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

/// A call that came to a stub transport or stub HTTP client, and what became of it.
public struct RecordedCall<Request: Sendable, Response: Sendable>: Sendable {
    /// The call as it came.
    public let request: Request

    /// What answered it, or why it failed; nil while it is under way.
    public internal(set) var outcome: Result<Response, any Error>?

    /// The answer, where there is one.
    public var response: Response? { try? outcome?.get() }

    /// The failure, where the call failed.
    public var error: (any Error)? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}

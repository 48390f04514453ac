import FeathersCore
import FeathersSupport

/// What stands in for a server: an asynchronous function of a call that answers it or fails.
///
/// ```swift
/// transport.stub("messages", .find, with: .value(["total": 0, "data": []]).delayed(by: .milliseconds(200)))
/// transport.stub("messages", .get, with: .cycle([.value(["id": 1]), .error(FeathersError(.unavailable, "Busy"))]))
/// transport.stub("messages", .create, with: ServiceStub { request in request.data ?? .null })
/// ```
///
/// The same stubs answer service calls (``ServiceStub``) and HTTP requests (``HTTPStub``).
public struct Stub<Request: Sendable, Response: Sendable>: Sendable {
    /// What a stub does once it knows the call.
    typealias Work = @Sendable () async throws -> Response

    /// Takes a call in the moment it comes, and says what is to be done for it. What depends on the order of calls is decided here, before anybody waits.
    let take: @Sendable (Request) -> Work

    init(taking take: @escaping @Sendable (Request) -> Work) { self.take = take }

    /// A stub that does what you want: it is called once for every call.
    public init(_ answer: @escaping @Sendable (Request) async throws -> Response) { take = { request in { try await answer(request) } } }

    /// A stub that fails with an error: over a transport a `FeathersError`, of an HTTP client an `HTTPClientError`.
    public static func error(_ error: any Error) -> Stub { Stub { _ in throw error } }

    /// A stub that never answers: the call ends when it is cancelled, or at its deadline.
    public static var unanswered: Stub {
        Stub { _ in
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in stream {}
            withExtendedLifetime(continuation) {}
            throw CancellationError()
        }
    }

    /// The same stub after a delay; a call that is cancelled does not wait for it. On a ``ManualClock`` it takes no time.
    public func delayed(by delay: Duration, on clock: any Clock<Duration> = ContinuousClock()) -> Stub {
        Stub(taking: { request in
            let work = take(request)
            return {
                try await clock.sleep(for: delay)
                return try await work()
            }
        })
    }
}

extension Stub {
    /// Answers with each of the stubs in turn, in the order the calls come, and begins anew after the last.
    public static func cycle(_ stubs: [Stub]) -> Stub {
        guard !stubs.isEmpty else { return .without("The cycle") }
        let calls = Locked(0)
        return Stub(taking: { request in
            let index = calls.withLock { calls in
                defer { calls = (calls + 1) % stubs.count }
                return calls
            }
            return stubs[index].take(request)
        })
    }

    /// Answers with any of the stubs, each as likely as the others. A seed makes the choice the same in every run.
    public static func random(_ stubs: [Stub], seed: UInt64? = nil) -> Stub {
        guard !stubs.isEmpty else { return .without("The choice at random") }
        guard let seed else { return Stub(taking: { stubs[Int.random(in: stubs.indices)].take($0) }) }
        let generator = Locked(SeededGenerator(seed: seed))
        return Stub(taking: { request in stubs[generator.withLock { Int.random(in: stubs.indices, using: &$0) }].take(request) })
    }

    /// Answers with the stub that `choice` picks for a call; it is asked once for every call, when the call comes.
    public static func choose(_ choice: @escaping @Sendable (Request) -> Stub) -> Stub { Stub(taking: { choice($0).take($0) }) }

    private static func without(_ what: String) -> Stub {
        .error(FeathersError(.generalError, "\(what) has no stubs to answer with", execution: .neverSent))
    }
}

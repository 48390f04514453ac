import FeathersCore
import FeathersSupport

/// A stand-in for a server: an asynchronous function that responds to a call or fails.
///
/// ```swift
/// transport.stub(
///     "messages", .find,
///     with: .value(["total": 0, "data": []]).delayed(by: .milliseconds(200)))
/// transport.stub(
///     "messages", .get,
///     with: .cycle([.value(["id": 1]), .error(FeathersError(.unavailable, "Busy"))]))
/// transport.stub(
///     "messages", .create, with: ServiceStub { request in request.data ?? .null })
/// ```
///
/// The same kinds of stubs serve service calls (``ServiceStub``) and HTTP requests (``HTTPStub``).
///
/// ## Topics
///
/// ### Responses to service calls
/// - ``value(_:)``
/// - ``encoding(_:coding:)``
/// - ``file(_:)``
/// - ``service(_:)``
///
/// ### HTTP responses
/// - ``json(_:status:headers:)``
/// - ``encoding(_:coding:status:headers:)``
/// - ``bytes(_:status:headers:)``
/// - ``file(_:status:headers:)``
/// - ``status(_:headers:)``
/// - ``refusal(_:headers:)``
///
/// ### Failures and time
/// - ``error(_:)``
/// - ``unanswered``
/// - ``delayed(by:on:)``
///
/// ### Several responses
/// - ``cycle(_:)``
/// - ``random(_:seed:)``
/// - ``choose(_:)``
/// - ``init(_:)``
///
/// ### Running a stub
/// - ``respond(to:)``
public struct Stub<Request: Sendable, Response: Sendable>: Sendable {
    /// The work of a stub for a known call.
    typealias Work = @Sendable () async throws -> Response

    /// Receives a call as it arrives and returns the work for it. Anything that depends on the order of calls is
    /// decided here, before any suspension.
    let take: @Sendable (Request) -> Work

    init(taking take: @escaping @Sendable (Request) -> Work) { self.take = take }

    /// Creates a stub from a function that is called once for every call.
    public init(_ respond: @escaping @Sendable (Request) async throws -> Response) {
        take = { request in { try await respond(request) } }
    }

    /// Runs the stub for a request, for example inside another stub.
    ///
    /// The request counts as a call of this stub: it takes the next one of a ``cycle(_:)``. Nothing is recorded.
    /// - Parameter request: The request, which may differ from the one that arrived.
    /// - Throws: Any error of the stub.
    public func respond(to request: Request) async throws -> Response { try await take(request)() }

    /// Fails with an error: a `FeathersError` for a transport, an `HTTPClientError` for an HTTP client.
    public static func error(_ error: any Error) -> Stub { Stub { _ in throw error } }

    /// A stub that never responds. The call ends when it is cancelled or reaches its deadline.
    public static var unanswered: Stub {
        Stub { _ in
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in stream {}
            withExtendedLifetime(continuation) {}
            throw CancellationError()
        }
    }

    /// Returns the same stub with a delay. Cancelling the call ends the delay. On a ``ManualClock``, the delay takes no
    /// real time.
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
    /// Responds with each of the stubs in turn, in the order in which the calls arrive, and starts over after the last
    /// one.
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

    /// Responds with a random stub; each is equally likely. With a seed, the choices are the same in every run.
    public static func random(_ stubs: [Stub], seed: UInt64? = nil) -> Stub {
        guard !stubs.isEmpty else { return .without("The random choice") }
        guard let seed else { return Stub(taking: { stubs[Int.random(in: stubs.indices)].take($0) }) }
        let generator = Locked(SeededGenerator(seed: seed))
        return Stub(taking: { request in
            stubs[generator.withLock { Int.random(in: stubs.indices, using: &$0) }].take(request)
        })
    }

    /// Responds with the stub that `choice` returns. The function is called once for every call, when the call arrives.
    public static func choose(_ choice: @escaping @Sendable (Request) -> Stub) -> Stub {
        Stub(taking: { choice($0).take($0) })
    }

    private static func without(_ what: String) -> Stub {
        .error(FeathersError(.generalError, "\(what) has no stubs to respond with", execution: .neverSent))
    }
}

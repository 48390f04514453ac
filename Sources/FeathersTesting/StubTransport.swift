public import FeathersCore

/// A transport without a server: answers requests with a function of yours and remembers them.
///
/// ```swift
/// let transport = StubTransport { request in ["id": 1, "text": "Hi"] }
/// let app = FeathersApp(transport: transport)
/// ```
///
/// Each stub is its own: two of them never meet.
public final class StubTransport: Transport {
    public typealias Answer = @Sendable (ServiceRequest) async throws -> JSONValue

    private let received = ObservedState<[ServiceRequest]>([])
    private let answer: Answer

    /// A stub that answers with what `answer` returns or throws.
    public init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    /// A stub that answers as the given services would, by path; any other path is ``FeathersError/Code/notFound``.
    public convenience init(services: [String: any ServiceProtocol]) {
        self.init { request in
            guard let service = services[request.path] else {
                throw FeathersError(.notFound, "Service '\(request.path)' not found")
            }
            return try await service.respond(to: request)
        }
    }

    /// The requests that have come so far, in order.
    public var requests: [ServiceRequest] { received.current }

    public func send(_ request: ServiceRequest) async throws -> JSONValue {
        received.update { $0.append(request) }
        return try await answer(request)
    }

    /// Waits until so many requests have come, and returns the last of them.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func waitForRequest(number: Int) async throws -> ServiceRequest {
        try await received.wait { $0.count >= number }
        return received.current[number - 1]
    }
}

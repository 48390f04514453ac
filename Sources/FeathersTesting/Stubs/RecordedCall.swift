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

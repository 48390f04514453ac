/// Why a call failed: a FeathersJS error from the server, or a local failure in the same words.
///
/// Catch by code:
///
/// ```swift
/// do { … } catch FeathersError.Code.notFound { … }
/// ```
public struct FeathersError: Error, Sendable {
    /// What the failure was; open, since servers define codes of their own.
    public var code: Code

    /// The class's name, for example `NotFound`. A server's unknown name is kept.
    public var name: String

    /// The class's CSS-like name, for example `not-found`.
    public var className: String

    /// The human-readable message.
    public var message: String

    /// Additional data the server sent along.
    public var data: JSONValue?

    /// Validation errors the server sent along, usually keyed by property.
    public var errors: JSONValue?

    /// What is known about the call's execution on the server.
    public var execution: Execution

    /// The answer's HTTP status and body where the failure is an answer that was no Feathers error.
    public var answer: Answer?

    /// How long the server asks to wait before the next try (HTTP's `Retry-After`, which comes with 429 and 503); nil where it does not.
    public var retryAfter: Duration?

    /// The failure underneath, where there was one.
    public var cause: (any Error)?

    /// An error; the parameters are the properties of the same names. Nothing secret belongs into the message, which is printed.
    public init(
        _ code: Code,
        _ message: String,
        data: JSONValue? = nil,
        errors: JSONValue? = nil,
        execution: Execution = .answered,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.name = code.name ?? "Error"
        self.className = code.className ?? "error"
        self.message = message
        self.data = data
        self.errors = errors
        self.execution = execution
        self.answer = nil
        self.retryAfter = nil
        self.cause = cause
    }
}

extension FeathersError {
    /// What is known about the execution of a call that failed.
    public enum Execution: Hashable, Sendable {
        /// The server, or a local service or hook, answered with this error.
        case answered
        /// The call never left: repeating it is safe.
        case neverSent
        /// The call was sent and no answer came: the server may have executed it.
        case mayHaveExecuted
    }

    /// An answer that could not be read as a Feathers result or error.
    public struct Answer: Sendable, Hashable {
        /// The HTTP status.
        public var status: Int
        /// The body as it came.
        public var body: [UInt8]

        /// An answer; the parameters are the properties of the same names.
        public init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
    }
}

extension FeathersError: CustomStringConvertible {
    /// Name, code and message. Never data, errors or bodies: they may hold what must not be printed.
    public var description: String {
        let uncertainty =
            switch execution {
            case .answered: ""
            case .neverSent: " (never sent)"
            case .mayHaveExecuted: " (may have been executed)"
            }
        return "\(name) \(code.rawValue): \(message)\(uncertainty)"
    }
}

public import FeathersCore

/// Why a write needs a decision.
public struct OutboxFailure: Sendable {
    /// Why the outbox does not decide by itself.
    public enum Reason: String, Sendable, Hashable {
        /// The record is not as the write expected it (409, 412).
        case conflict
        /// The server, or a hook, refuses the write as it is: sent again it would be refused again.
        case rejected
        /// It is not known whether the server has executed the write, and the server knows no repetition by its key.
        case unknown
    }

    /// The write as it was sent.
    public let write: OutboxWrite
    /// Why the outbox does not decide by itself.
    public let reason: Reason
    /// What the last attempt failed with.
    public let error: FeathersError
    /// Whether an earlier attempt, or this one, may have been executed.
    public let mayHaveExecuted: Bool
}

/// What becomes of a write that failed.
public enum OutboxDecision: Sendable, Hashable {
    /// It is given up. Who waits for its result gets the failure.
    case discard
    /// It is sent again as it is, with the same key.
    case retry
    /// It is sent with other data and a new key, in the same place of its order.
    case replace(JSONValue)
}

extension OutboxFailure {
    /// The process, or the app, ended while the write was on its way.
    init(interrupted write: OutboxWrite) {
        self.init(
            write: write, reason: .unknown,
            error: FeathersError(.unavailable, "The app ended before the answer came", execution: .mayHaveExecuted), mayHaveExecuted: true)
    }
}

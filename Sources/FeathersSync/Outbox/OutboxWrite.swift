public import FeathersCore
import FeathersSupport
public import Foundation

/// A write in an outbox: the call to make, and the identity of the write.
public struct OutboxWrite: Sendable, Hashable, Identifiable {
    /// Identifies the write while it is in the outbox.
    public let id: UUID
    /// The key by which a server recognizes a repetition. It is the same for every attempt; a write whose data is replaced gets a new one.
    package internal(set) var key: UUID
    /// The service's path, with its placeholders (`:userId`).
    public let path: String
    /// The method to call.
    public let method: ServiceMethod
    /// The record's id; nil for `create` and custom methods.
    public let recordID: ServiceID?
    /// The data of the call.
    public internal(set) var data: JSONValue?
    /// The query that goes with the write.
    public let query: Query
    /// Values for the placeholders of the path.
    public let route: [String: String]
    /// When the write was queued.
    public let date: Date
    /// Who queued the write. It is sent in this name only. A write that was queued by no one is sent by the next user, if the server requires one.
    public let identity: Identity?
    /// Writes of one lane are sent one after the other, in the order they were queued.
    let lane: String
}

/// A write that an outbox has accepted.
public struct QueuedWrite<Value: Sendable>: Sendable, Identifiable {
    /// The write as it is in the outbox.
    public let write: OutboxWrite
    let outcome: Promise<JSONValue>
    let read: @Sendable (JSONValue) throws -> Value

    public var id: UUID { write.id }

    /// Waits until the server has answered, which can take days.
    /// - Throws: The failure it was discarded with, or `CancellationError` when cancelled, which leaves the write in the outbox.
    public func result() async throws -> Value { try read(await outcome.value()) }

    /// The same write with another way to read its result.
    func map<Other>(_ read: @escaping @Sendable (JSONValue) throws -> Other) -> QueuedWrite<Other> {
        QueuedWrite<Other>(write: write, outcome: outcome, read: read)
    }
}

/// A failed write that needs a decision.
public struct OutboxFailure: Sendable {
    /// Why the outbox does not decide by itself.
    public enum Reason: String, Sendable, Hashable {
        /// The record is not in the state the write expects (409, 412).
        case conflict
        /// The server or a hook refuses the write, and would refuse it again.
        case rejected
        /// The server may have executed the write, and would not recognize a repetition.
        case unknown
    }

    /// The write as it was sent.
    public let write: OutboxWrite
    /// Why the outbox does not decide by itself.
    public let reason: Reason
    /// The error of the last attempt. `errors`, `data` and `answer` are kept if they take at most 64 KiB; the message names what is missing.
    public let error: FeathersError
    /// Whether any attempt may have been executed.
    public let mayHaveExecuted: Bool
}

extension OutboxFailure {
    /// The process or the app ended while the write was being sent.
    init(interrupted write: OutboxWrite) {
        self.init(
            write: write, reason: .unknown,
            error: FeathersError(.unavailable, "The app ended before the answer came", execution: .mayHaveExecuted), mayHaveExecuted: true)
    }
}

/// What becomes of a failed write.
public enum OutboxDecision: Sendable, Hashable {
    /// Gives the write up. Waiting for its result throws the failure.
    case discard
    /// Sends the write again, with the same key.
    case retry
    /// Sends the write with other data and a new key, at the same position in its lane.
    case replace(JSONValue)
}

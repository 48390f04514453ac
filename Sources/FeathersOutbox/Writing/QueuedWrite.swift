import FeathersCore
import FeathersSupport
public import Foundation

/// A write that an outbox has accepted.
public struct QueuedWrite<Value: Sendable>: Sendable, Identifiable {
    /// The write as it is in the outbox.
    public let write: OutboxWrite
    let outcome: Promise<JSONValue>
    let read: @Sendable (JSONValue) throws -> Value

    public var id: UUID { write.id }

    /// Waits until the server has answered, which may be days.
    /// - Throws: the failure it was given up with; `CancellationError` when cancelled, which leaves the write in the outbox.
    public func result() async throws -> Value {
        try read(await outcome.value())
    }

    /// The same write whose result is read as something else.
    func map<Other>(_ read: @escaping @Sendable (JSONValue) throws -> Other) -> QueuedWrite<Other> {
        QueuedWrite<Other>(write: write, outcome: outcome, read: read)
    }
}

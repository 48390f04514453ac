import FeathersCore
import FeathersSupport
public import Foundation

/// The state of an outbox: its pending writes, and what it waits for.
public struct OutboxState: Sendable {
    /// What an outbox does or waits for.
    public enum Activity: Sendable, Hashable {
        /// No app runs the outbox.
        case stopped
        /// There is no connection.
        case offline
        /// The server could not be reached. The next attempt follows after a delay.
        case unreachable
        /// The server requires a sign-in.
        case waitingForSignIn
        /// Writes are sent in order.
        case active
    }

    /// What the outbox does or waits for.
    public let activity: Activity
    /// The pending writes of the signed-in user, in the order they were queued. The writes of other users wait until
    /// they sign in again.
    public internal(set) var entries: [OutboxEntry]

    /// - Parameters:
    ///   - identity: The user who may see the entries.
    ///   - now: The current time on the queue's clock.
    init(_ queue: OutboxQueue, of identity: Identity?, at now: Duration) {
        let date = Date.current
        let gate = queue.gate
        activity =
            if !gate.isStarted { .stopped } else if !gate.isConnected { .offline } else if gate.needsSignIn {
                .waitingForSignIn
            } else {
                gate.failures > 0 ? .unreachable : .active
            }
        entries = queue.writes(of: identity).map { item in
            let status: OutboxEntry.Status =
                switch item.stage {
                case .waiting: .waiting
                case .sending: .sending
                case .retrying: .retrying
                case .failed: .awaitingDecision
                case .deciding(let failed): failed ? .awaitingDecision : .waiting
                }
            let next: Date? =
                if case .retrying(let moment) = item.stage { date + (moment - now) / .seconds(1) } else { nil }
            return OutboxEntry(
                write: item.write, status: status, attempts: item.attempts, nextAttempt: next, failure: item.failure)
        }
    }
}

/// A pending write in an outbox, with its progress.
public struct OutboxEntry: Sendable, Identifiable {
    /// The progress of a write.
    public enum Status: Sendable, Hashable {
        /// The write waits for earlier writes, or for the outbox to send.
        case waiting
        /// The write is being sent.
        case sending
        /// The server has deferred the write. It is sent again after a delay.
        case retrying
        /// The write waits for a decision, and so do the later writes in its lane.
        case awaitingDecision
    }

    public var id: UUID { write.id }
    /// The pending write.
    public let write: OutboxWrite
    /// The progress of the write.
    public let status: Status
    /// The number of attempts that have begun since the outbox was opened.
    public let attempts: Int
    /// The time of the next attempt, if the server has deferred the write; nil otherwise.
    public let nextAttempt: Date?
    /// The failure that needs a decision, if there is one.
    public internal(set) var failure: OutboxFailure?
}

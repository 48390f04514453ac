public import Foundation

/// The state of an outbox: what it holds, and what it waits for.
public struct OutboxState: Sendable {
    /// What an outbox does, or waits for.
    public enum Activity: Sendable, Hashable {
        /// No app runs it.
        case stopped
        /// There is no connection.
        case offline
        /// The server could not be reached; the next attempt follows after a delay.
        case unreachable
        /// The server requires a sign-in.
        case waitingForSignIn
        /// Writes are sent as soon as their turn comes.
        case active
    }

    /// What the outbox does, or waits for.
    public let activity: Activity
    /// The pending writes of the signed-in user, in the order they were queued. Those of other users wait for their next sign-in.
    public let entries: [OutboxEntry]

    /// - Parameter now: The present moment of the clock that the queue counts by.
    init(_ queue: OutboxQueue, at now: Duration) {
        let date = Date()
        let gate = queue.gate
        activity =
            if !gate.isStarted { .stopped } else if !gate.isConnected { .offline } else if gate.needsSignIn { .waitingForSignIn } else {
                gate.failures > 0 ? .unreachable : .active
            }
        entries = queue.own.map { item in
            let status: OutboxEntry.Status =
                switch item.stage {
                case .waiting: .waiting
                case .sending: .sending
                case .retrying: .retrying
                case .failed: .awaitingDecision
                case .deciding(let failed): failed ? .awaitingDecision : .waiting
                }
            let next: Date? = if case .retrying(let moment) = item.stage { date + (moment - now) / .seconds(1) } else { nil }
            return OutboxEntry(
                write: item.write, status: status, attempts: item.attempts, nextAttempt: next, failure: item.failure)
        }
    }
}

/// A write in an outbox, with its progress.
public struct OutboxEntry: Sendable, Identifiable {
    /// The progress of a write.
    public enum Status: Sendable, Hashable {
        /// It waits for its turn.
        case waiting
        /// It is being sent.
        case sending
        /// The server has put it off; it is sent again after a delay.
        case retrying
        /// It waits for a decision, and the writes behind it in its lane wait too.
        case awaitingDecision
    }

    public var id: UUID { write.id }
    /// The write.
    public let write: OutboxWrite
    /// Its progress.
    public let status: Status
    /// How many attempts have begun since the outbox was opened.
    public let attempts: Int
    /// When the write is sent again, if the server has put it off; nil otherwise.
    public let nextAttempt: Date?
    /// Why a decision is needed, if one is.
    public let failure: OutboxFailure?
}

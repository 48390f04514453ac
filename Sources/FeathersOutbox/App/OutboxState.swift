public import Foundation

/// How an outbox is: what it holds, and what it waits for.
public struct OutboxState: Sendable {
    /// What an outbox does, or waits for.
    public enum Activity: Sendable, Hashable {
        /// No app runs it.
        case stopped
        /// There is no connection.
        case offline
        /// The server could not be reached; the next attempt comes after a delay.
        case unreachable
        /// The server wants somebody signed in.
        case waitingForSignIn
        /// What may be sent is sent at once.
        case active
    }

    /// What it does, or waits for.
    public var activity: Activity
    /// The writes that are not done with, in the order they were handed in.
    public var entries: [OutboxEntry]
}

/// A write in an outbox.
public struct OutboxEntry: Sendable, Identifiable {
    /// How far a write is.
    public enum Status: Sendable, Hashable {
        /// It waits for its turn.
        case waiting
        /// It is on its way.
        case sending
        /// The server has put it off; it is sent again after a delay.
        case retrying
        /// It waits for a decision; those behind it in its lane wait too.
        case awaitingDecision
    }

    public var id: UUID { write.id }
    /// What is to be written.
    public var write: OutboxWrite
    /// How far it is.
    public var status: Status
    /// How many attempts have begun since the outbox was opened.
    public var attempts: Int
    /// Why a decision is needed, where it is.
    public var failure: OutboxFailure?
}

extension OutboxState {
    init(_ queue: OutboxQueue) {
        let gate = queue.gate
        activity =
            if !gate.isStarted { .stopped } else if !gate.isConnected { .offline } else if gate.needsSignIn { .waitingForSignIn } else {
                gate.failures > 0 ? .unreachable : .active
            }
        entries = queue.inOrder.map { item in
            let status: OutboxEntry.Status =
                switch item.stage {
                case .waiting: .waiting
                case .sending: .sending
                case .retrying: .retrying
                case .failed: .awaitingDecision
                case .deciding(let failed): failed ? .awaitingDecision : .waiting
                }
            return OutboxEntry(write: item.write, status: status, attempts: item.attempts, failure: item.failure)
        }
    }
}

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
        let earlier = queue.earlierWrites
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
                write: item.write, status: status, attempts: item.attempts, nextAttempt: next,
                waitsFor: queue.condition(of: item, after: earlier[item.write.id]), failure: item.failure)
        }
    }
}

extension OutboxQueue {
    /// The write right before each write in its lane.
    fileprivate var earlierWrites: [UUID: UUID] {
        var earlier: [UUID: UUID] = [:]
        for lane in lanes.values { for (before, after) in zip(lane, lane.dropFirst()) { earlier[after] = before } }
        return earlier
    }

    /// Returns what a write waits for; nil while it is sent.
    /// - Parameter earlier: The write before it in its lane.
    fileprivate func condition(of item: Item, after earlier: UUID?) -> OutboxEntry.Condition? {
        switch item.stage {
        case .sending: return nil
        case .failed, .deciding: return .decision
        case .waiting, .retrying: break
        }
        for id in references.awaited(by: item.write.id).sorted(by: { $0.text < $1.text }) {
            guard let owner = items[id]?.write else { continue }
            return owner.belongs(to: item.write.identity ?? identity) ? .write(id) : .writeOfOtherUser(id)
        }
        if let earlier { return .write(earlier) }
        if !gate.isStarted { return .run }
        if !gate.isConnected { return .connection }
        if gate.needsSignIn { return .signIn }
        if gate.failures > 0 { return .server }
        if case .retrying = item.stage { return .server }
        return .turn
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

    /// What a pending write waits for.
    public enum Condition: Sendable, Hashable {
        /// The end of another write: an earlier one to the same record, the one before it in its group, or the creation of
        /// a record to which it refers.
        case write(OutboxWrite.ID)
        /// The end of a write of another user, which creates a record to which this one refers. It is sent when that user
        /// signs in. Discard this write if that will not happen.
        case writeOfOtherUser(OutboxWrite.ID)
        /// Your app's decision.
        case decision
        /// A running app, see ``Outbox/run(in:)``.
        case run
        /// A connection.
        case connection
        /// A sign-in.
        case signIn
        /// A delay after which the server is tried again, because it could not be reached or has deferred the write.
        case server
        /// The end of the writes that are sent now, see ``OutboxOptions/concurrentLanes``.
        case turn
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
    /// What the write waits for; nil while it is being sent.
    public let waitsFor: Condition?
    /// The failure that needs a decision, if there is one.
    public internal(set) var failure: OutboxFailure?
}

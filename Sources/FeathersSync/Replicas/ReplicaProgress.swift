public import FeathersCore
public import Foundation

/// How far a replica is.
public struct ReplicaProgress: Sendable {
    /// The number of records on this device.
    public internal(set) var count = 0
    /// The number of records on the server when the first copy began; nil if the server has not said it.
    public internal(set) var total: Int?
    /// Whether the first copy is complete, so that queries are answered on this device.
    public internal(set) var isComplete = false
    /// Whether the server has nothing else, so far as is known: nothing was missed since it was asked last.
    public internal(set) var isUpToDate = false
    /// When the replica was last up to date; nil before the first copy is complete.
    public internal(set) var date: Date?
    /// Why the server could not be asked last; nil if it could. The replica tries again.
    public internal(set) var failure: FeathersError?

    init() {}

    init(_ head: ReplicaHead) { update(head) }

    mutating func update(_ head: ReplicaHead) {
        (count, isComplete, date) = (head.count, head.isComplete, head.date)
    }
}

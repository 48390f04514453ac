// Locks: State of one reader, in the task that reads its snapshots.

import FeathersCore

/// Reads the rows of a live query: of one list, of two lists that begin at a record, or of lists whose conditions change.
protocol LiveRowsReading<Record> {
    associatedtype Record: Sendable

    /// The window of the list; nil before it is open.
    var window: LiveWindow? { get }
    /// The sign-in to which something was shown last; nil before the first snapshot.
    var shownFor: RequestSender? { get }

    /// Returns a snapshot if it differs from the previous one.
    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>?
    /// Changes the keys whose records are wanted.
    mutating func changeKeys(_ change: RelatedKeys.Change)
    mutating func close()
}

extension LiveRowsReading {
    /// Only a list with fixed conditions has keys.
    mutating func changeKeys(_ change: RelatedKeys.Change) {}
}

extension LiveSource {
    /// Returns what reads the query's rows.
    func rowsReader(_ wake: AsyncStream<Void>.Continuation) -> any LiveRowsReading<Element> {
        if !conditions.isEmpty { return LiveFollowingReader(self, wake) }
        if let relation, relation.part != nil { return RelatedPartsReader(self, relation, wake) }
        if let anchor { return LiveAnchorReader(self, anchor, wake) }
        return LiveReader(self, wake)
    }
}

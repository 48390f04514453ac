// Locks: Values without a lock.

import FeathersCore
import FeathersSupport
import Foundation

/// The list of a live query as the server reported it, without queued writes, to be stored.
struct ListState: Sendable {
    let rows: ResultRows
    /// The number of records in the whole list, if the server has reported it.
    let total: Int?
    /// The number of records to show before the list grows; nil for all.
    let limit: Int?
    /// The number of records to show beyond that.
    let growth: Int
    /// Whether no record follows the last one.
    let isComplete: Bool
    /// Whether the records are in the order of a local sort. Comparing 1,000 of them takes 0.16 ms.
    let isSorted: Bool
    /// Whether `$select` or hooks shape the records for this query, so that they are no other list's.
    let isShaped: Bool
    /// When the server's data was last up to date.
    let date: Date
    /// The number of the last change in the database when the list was taken. Later states of records are newer.
    let taken: Int
    /// The number of the last change that the list includes.
    let change: Int
    /// The records of responses that the list does not include. The database has newer states of them.
    let lacking: Set<String>

    /// Takes the list of a live query; nil if it was not fetched, or if its user has left.
    /// - Parameter change: The number of the last change in the database.
    init?(_ open: LiveWindow, at change: Int) {
        let taken = open.withState { store, _ -> ListState? in
            guard open.sender.isCurrent, let window = store.windows[open.id], window.source == .server else {
                return nil
            }
            return ListState(window, lacking: store.answered.filter { window.replays($0) && $0.change > 0 }, at: change)
        }
        guard let taken else { return nil }
        self = taken
    }

    /// - Parameter writes: The writes with a stored response that the window does not include.
    init(_ window: Window, lacking writes: [LocalWrite], at change: Int) {
        (date, rows, total) = (.current, window.known, window.total?.count)
        (limit, growth) = (window.firstLimit == .max ? nil : window.firstLimit, window.growth)
        (isComplete, isSorted, isShaped) = (window.isComplete, window.order.isSorted, !window.isShared)
        lacking = Set(writes.map(\.key))
        (taken, self.change) = (change, min(change, writes.map { $0.change - 1 }.min() ?? .max))
    }
}

/// The records of a list are not what was stored.
struct DamagedList: Error, CustomStringConvertible {
    var description: String { "it is damaged" }
}

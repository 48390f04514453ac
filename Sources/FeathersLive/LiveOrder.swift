import FeathersCore

/// The order of a live result, as far as it is known on this side.
enum LiveOrder: Sendable {
    /// As the query sorts, which is how the server's answer came.
    case sorted(QuerySorter)
    /// The query does not sort: what is new comes last.
    case arrival
    /// The query sorts, yet the server's answer came otherwise than it would here, by its own collation for example.
    case foreign(QuerySorter)

    init(_ sorter: QuerySorter?, of entries: [LiveWindow.Entry]) {
        guard let sorter else {
            self = .arrival
            return
        }
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { !sorter.areInIncreasingOrder($1.record, $0.record) }
        self = isSorted ? .sorted(sorter) : .foreign(sorter)
    }

    /// Whether a record that has become another one stays where it is.
    func keepsPlace(_ old: JSONValue, _ new: JSONValue) -> Bool {
        switch self {
        case .arrival: true
        case .sorted(let sorter), .foreign(let sorter): !sorter.areInIncreasingOrder(old, new) && !sorter.areInIncreasingOrder(new, old)
        }
    }

    /// Where a record belongs among others in this order.
    func place(for record: JSONValue, in entries: [LiveWindow.Entry]) -> Int {
        guard case .sorted(let sorter) = self else { return entries.count }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if sorter.areInIncreasingOrder(record, entries[middle].record) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

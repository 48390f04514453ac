import FeathersCore

/// The result of a live query at one moment, with the changes since the previous snapshot.
public struct LiveSnapshot<Element: Sendable>: Sendable {
    /// The records, sorted and limited by the query.
    public let records: [Element]
    let marks: [LiveMark]
    let previous: [LiveMark]

    /// The changes since the previous snapshot. In the first snapshot, every record is an insertion.
    public var changes: LiveChanges { LiveChanges(from: previous, to: marks) }
}

/// The key of a record, see ``LiveQueryPlan/key(of:)``, and the version that was shown.
struct LiveMark: Hashable, Sendable {
    let key: String
    let version: Int
}

/// The differences between two snapshots, in the form that list views animate.
public struct LiveChanges: Sendable, Hashable {
    /// A record that moved to another index.
    public struct Move: Sendable, Hashable {
        /// The index in the previous snapshot.
        public let from: Int
        /// The index in this snapshot.
        public let to: Int
    }

    /// The indices, in the previous snapshot, of the records that were removed, in ascending order.
    public private(set) var removals: [Int] = []
    /// The indices of the inserted records, in ascending order.
    public private(set) var insertions: [Int] = []
    /// The records that moved relative to the others.
    public private(set) var moves: [Move] = []
    /// The indices of the records whose properties changed, in ascending order. These records may also have moved.
    public private(set) var updates: [Int] = []

    init(from old: [LiveMark], to new: [LiveMark]) {
        for change in new.map(\.key).difference(from: old.map(\.key)).inferringMoves() {
            switch change {
            case .remove(let index, _, nil): removals.append(index)
            case .insert(let index, _, let origin?): moves.append(Move(from: origin, to: index))
            case .insert(let index, _, nil): insertions.append(index)
            case .remove: break
            }
        }
        removals.sort()
        let versions = Dictionary(old.map { ($0.key, $0.version) }) { first, _ in first }
        updates = new.indices.filter { index in versions[new[index].key].map { $0 != new[index].version } ?? false }
    }
}

/// The elements that are shown, with a mark for the record that each one was made from.
///
/// Compares only the range between the first and the last difference. Most changes concern a single record: the others are neither decoded nor looked
/// up again.
struct LiveElements<Record: Sendable>: Sendable {
    /// The marks of the elements; nil before the first result.
    private(set) var marks: [LiveMark]?
    private(set) var elements: [Record] = []

    /// Makes elements from the records to show.
    /// - Returns: Whether anything differs from the previous elements.
    /// - Throws: The error of `make`. In that case, nothing changes.
    mutating func show(_ entries: ArraySlice<LiveWindow.Entry>, _ make: (JSONValue) throws -> Record) throws -> Bool {
        let new = entries.map { LiveMark(key: $0.key, version: $0.version) }
        let old = marks ?? []
        let isFirst = marks == nil
        // Versions are unique across records, so comparing them is enough.
        let common = min(old.count, new.count)
        var before = 0
        while before < common, old[before].version == new[before].version { before += 1 }
        if !isFirst, before == old.count, before == new.count { return false }
        var behind = 0
        while behind < common - before, old[old.count - 1 - behind].version == new[new.count - 1 - behind].version { behind += 1 }

        let gone = before..<old.count - behind
        var known: [Int: Record] = [:]
        for index in gone { known[old[index].version] = elements[index] }
        var made: [Record] = []
        for index in before..<new.count - behind {
            if let element = known[new[index].version] {
                made.append(element)
            } else {
                made.append(try make(entries[entries.startIndex + index].record))
            }
        }
        elements.replaceSubrange(gone, with: made)
        marks = new
        return true
    }
}

import FeathersCore

/// The result of a live query at one moment, with what has changed since the one before.
public struct LiveSnapshot<Element: Sendable>: Sendable {
    /// The records, sorted and limited by the query.
    public let records: [Element]
    let marks: [LiveMark]
    let previous: [LiveMark]

    /// What has changed since the snapshot before. In the first snapshot, everything is an insertion.
    public var changes: LiveChanges { LiveChanges(from: previous, to: marks) }
}

/// The key of a record, see ``LiveQueryPlan/key(of:)``, together with the version of it that was shown.
struct LiveMark: Hashable, Sendable {
    let key: String
    let version: Int
}

/// The differences between two snapshots, in the terms that list views animate.
public struct LiveChanges: Sendable, Hashable {
    /// A record that moved to another index.
    public struct Move: Sendable, Hashable {
        /// Its index in the snapshot before.
        public let from: Int
        /// Its index now.
        public let to: Int
    }

    /// Indices, in the snapshot before, of the records that are gone, in ascending order.
    public private(set) var removals: [Int] = []
    /// Indices of the records that are new, in ascending order.
    public private(set) var insertions: [Int] = []
    /// Records that moved relative to the others.
    public private(set) var moves: [Move] = []
    /// Indices of the records whose properties have changed, in ascending order. Some of them may have moved too.
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

/// The elements that are shown, and the records they were made from.
///
/// Compares only what lies between the first and the last difference. Most changes concern one record of many: the others are neither
/// decoded nor looked up again.
struct LiveElements<Record: Sendable>: Sendable {
    /// What the elements were made from; nil before the first time.
    private(set) var marks: [LiveMark]?
    private(set) var elements: [Record] = []

    /// Makes elements from the records to be shown.
    /// - Returns: Whether anything differs from what was shown before.
    /// - Throws: What `make` throws. Nothing has changed then.
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

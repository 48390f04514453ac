/// The result of a live query at one moment, with what has changed since the one before.
public struct LiveSnapshot<Element: Sendable>: Sendable {
    /// The records, sorted and limited as the query says.
    public let records: [Element]
    let marks: [LiveMark]
    let previous: [LiveMark]

    /// What has changed since the snapshot before; everything is an insertion in the first.
    public var changes: LiveChanges { LiveChanges(from: previous, to: marks) }
}

/// A record's identity and the state of it that was shown.
struct LiveMark: Hashable, Sendable {
    let key: LiveKey
    let version: Int
}

/// The differences between two snapshots, in the terms list views animate.
public struct LiveChanges: Sendable, Hashable {
    /// A record that has another place.
    public struct Move: Sendable, Hashable {
        /// Its index in the snapshot before.
        public let from: Int
        /// Its index now.
        public let to: Int
    }

    /// Indices in the snapshot before of the records that are gone, ascending.
    public private(set) var removals: [Int] = []
    /// Indices of the records that are new, ascending.
    public private(set) var insertions: [Int] = []
    /// Records that changed their place among the others.
    public private(set) var moves: [Move] = []
    /// Indices of the records that are the same but whose properties have changed, ascending; some may have moved too.
    public private(set) var updates: [Int] = []

    /// Whether nothing has changed.
    public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

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

/// The rows of a live result in order, in a tree of small parts.
///
/// A change copies the parts that lead to its row: a few dozen references on each of a few levels. With one list of
/// chunks, copying that list made a change in 100,000 rows cost twice as much as in 1,000. Copies of the result, such
/// as delivered snapshots, share everything else.
struct LiveRows: RandomAccessCollection, Sendable {
    /// A range of rows that replaces a range of earlier rows.
    struct Change: Sendable, Equatable {
        let old: Range<Int>
        let new: Range<Int>
    }

    private var root = LivePart(rows: [])

    init() {}

    init(_ rows: [LiveRow]) {
        // Not full, so that the next insertion does not split a part.
        let size = LivePart.maximumSize * 3 / 4
        func runs<Element>(_ elements: [Element]) -> [[Element]] {
            stride(from: 0, to: elements.count, by: size).map {
                Array(elements[$0..<Swift.min($0 + size, elements.count)])
            }
        }
        var parts = runs(rows).map(LivePart.init(rows:))
        while parts.count > 1 { parts = runs(parts).map(LivePart.init(parts:)) }
        root = parts.first ?? root
    }

    var count: Int { root.count }
    var startIndex: Int { 0 }
    var endIndex: Int { root.count }

    subscript(index: Int) -> LiveRow { root[index] }

    func makeIterator() -> Iterator { Iterator(root) }

    /// Reads the rows leaf by leaf.
    struct Iterator: IteratorProtocol {
        private let root: LivePart
        private var leaf: [LiveRow] = []
        private var position = 0
        /// The index of the row after the leaf.
        private var end = 0

        fileprivate init(_ root: LivePart) { self.root = root }

        mutating func next() -> LiveRow? {
            if position == leaf.count {
                guard end < root.count else { return nil }
                (leaf, position) = (root.leaf(at: end), 0)
                end += leaf.count
            }
            defer { position += 1 }
            return leaf[position]
        }
    }

    mutating func insert(_ row: LiveRow, at index: Int) {
        if let half = root.insert(row, at: index) { root = LivePart(parts: [root, half]) }
    }

    mutating func replace(_ index: Int, with row: LiveRow) { root.replace(index, with: row) }

    mutating func remove(at index: Int) {
        root.remove(at: index)
        lower()
    }

    /// Removes rows without touching the parts that contain none of them.
    mutating func removeAll(where isRemoved: (LiveRow) -> Bool) {
        root = root.removing(isRemoved)
        lower()
    }

    /// Returns the first rows.
    func limited(to limit: Int) -> LiveRows {
        guard limit < count else { return self }
        var rows = self
        rows.root = root.prefix(limit)
        rows.lower()
        return rows
    }

    /// Removes levels with a single part, and all of them from an empty tree.
    private mutating func lower() {
        if root.count == 0 { root = LivePart(rows: []) }
        while root.parts.count == 1 { root = root.parts[0] }
    }

    /// Returns the index of the first row for which a condition is false that is true for all rows before it, by
    /// bisection.
    func partitionIndex(_ isBefore: (LiveRow) -> Bool) -> Int { root.partitionIndex(isBefore) }

    /// Returns the ranges in which these rows differ from earlier ones. Shared parts are skipped without looking at
    /// their rows.
    func changes(since old: LiveRows) -> [Change] {
        var changes: [Change] = []
        // A row that is replaced or moved leaves the parts where they are. Otherwise, they must be aligned.
        if Self.compare(root, at: 0, with: old.root, at: 0, &changes) { return changes }
        return Self.changes(from: LiveCursor([old.root][...], at: 0), to: LiveCursor([root][...], at: 0))
    }

    /// Adds the changes between two parts at the same place in their trees.
    /// - Returns: Whether the parts in them are still at their places.
    private static func compare(
        _ new: LivePart, at start: Int, with old: LivePart, at oldStart: Int, _ changes: inout [Change]
    ) -> Bool {
        guard !new.isShared(with: old) else { return true }
        guard !new.isLeaf, !old.isLeaf else {
            guard new.isLeaf, old.isLeaf, abs(new.count - old.count) <= 1 else { return false }
            guard let change = Change([new.rows], at: start, replacing: [old.rows], at: oldStart) else { return true }
            if let last = changes.last, last.new.upperBound == change.new.lowerBound,
                last.old.upperBound == change.old.lowerBound
            {
                changes[changes.count - 1] = Change(
                    old: last.old.lowerBound..<change.old.upperBound, new: last.new.lowerBound..<change.new.upperBound)
            } else {
                changes.append(change)
            }
            // Rows that are shifted, as after a fetch, differ in every leaf: the cursor finds what has moved.
            return changes.count <= 4 && changes[changes.count - 1].new.count <= 4 * LivePart.maximumSize
        }
        return new.parts.withUnsafeBufferPointer { new in
            old.parts.withUnsafeBufferPointer { old in
                guard new.count == old.count else { return false }
                var (start, oldStart) = (start, oldStart)
                for index in new.indices {
                    // Asked here too, because a call costs twice as much as most parts do.
                    if !new[index].isShared(with: old[index]) {
                        guard compare(new[index], at: start, with: old[index], at: oldStart, &changes) else {
                            return false
                        }
                    }
                    (start, oldStart) = (start + new[index].count, oldStart + old[index].count)
                }
                return true
            }
        }
    }

    private static func changes(from old: LiveCursor, to new: LiveCursor) -> [Change] {
        var changes: [Change] = []
        var (here, there) = (new, old)
        while true {
            here.passShared(with: &there)
            // The leaves up to the next shared part.
            var (new, gone): ([[LiveRow]], [[LiveRow]]) = ([], [])
            let start = (here: here.position, there: there.position)
            while !here.isAtEnd || !there.isAtEnd, !here.isShared(with: there) {
                if let larger = here.isLarger(than: there) {
                    if larger { here.descend() } else { there.descend() }
                    // Shared parts before the first that differs are no change.
                    if new.isEmpty, gone.isEmpty { break }
                    continue
                }
                let steps = here.stepsToShared(there)
                for _ in 0..<steps.here { new.append(here.next()) }
                for _ in 0..<steps.there { gone.append(there.next()) }
            }
            if let change = Change(new, at: start.here, replacing: gone, at: start.there) { changes.append(change) }
            if here.isAtEnd, there.isAtEnd { return changes }
        }
    }
}

extension LiveRows.Change {
    /// Creates a change without the rows that are the same at both ends; nil if all are.
    fileprivate init?(_ leaves: [[LiveRow]], at start: Int, replacing oldLeaves: [[LiveRow]], at oldStart: Int) {
        let new = leaves.count == 1 ? leaves[0] : Array(leaves.joined())
        let old = oldLeaves.count == 1 ? oldLeaves[0] : Array(oldLeaves.joined())
        let most = Swift.min(new.count, old.count)
        var (first, last) = (0, 0)
        while first < most, new[first] === old[first] { first += 1 }
        while last < most - first, new[new.count - 1 - last] === old[old.count - 1 - last] { last += 1 }
        guard first + last < Swift.max(new.count, old.count) else { return nil }
        self.init(old: oldStart + first..<oldStart + old.count - last, new: start + first..<start + new.count - last)
    }
}

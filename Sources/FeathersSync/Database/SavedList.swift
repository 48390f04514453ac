// Locks: Values without a lock. `ListSlot.saved` guards the one that is on disk.

/// A list as it is in the database, so that a change of it changes few rows there.
struct SavedList: Sendable {
    /// Some keys that are stored together.
    struct Chunk: Sendable, Equatable {
        /// Chunks have ascending places, with gaps, so that a new one needs no other ones to move.
        var place: Int
        let count: Int
    }

    /// What turns a saved list into another one.
    struct Changes: Sendable {
        /// The rows whose records are new or have changed.
        var records: [ResultRow] = []
        /// The places of chunks that no longer exist.
        var removed: [Int] = []
        /// The places of chunks that have changed, with the indices of their rows.
        var written: [(place: Int, rows: Range<Int>)] = []
        /// All chunks afterward.
        var chunks: [Chunk] = []
        /// The number of keys that have left the list.
        var lostCount = 0
    }

    /// The number of the list in the database.
    let number: Int
    /// Whether its records are its own.
    let isShaped: Bool
    var rows = ResultRows()
    var chunks: [Chunk] = []

    /// The number of places.
    static let limit = 1 << 40
    /// The number of keys above which a chunk is divided.
    private static let maximumSize = 128
    private static let step = 1 << 20

    /// Returns the changes that turn this list into another one.
    func changes(to next: ResultRows) -> Changes {
        var changes = Changes()
        var dirty: [(chunks: Range<Int>, growth: Int)] = []
        let ends = chunks.reduce(into: [Int]()) { $0.append(($0.last ?? 0) + $1.count) }
        for range in next.changes(since: rows) {
            guard compare(range, next, &changes) else { continue }
            // Found by bisection, because a list has many chunks.
            let first = Swift.min(Self.index(of: range.old.lowerBound, in: ends), Swift.max(chunks.count - 1, 0))
            let last = Self.index(of: Swift.max(range.old.upperBound - 1, range.old.lowerBound), in: ends)
            let end = Swift.min(Swift.max(last, first) + 1, chunks.count)
            let growth = range.new.count - range.old.count
            if let previous = dirty.last, previous.chunks.upperBound > first {
                dirty[dirty.count - 1] = (
                    previous.chunks.lowerBound..<Swift.max(end, previous.chunks.upperBound), previous.growth + growth
                )
            } else {
                dirty.append((first..<end, growth))
            }
        }
        changes.chunks = chunks
        if !rewrite(dirty, ends, &changes) { changes.rewriteAll(next.count, in: chunks) }
        return changes
    }

    /// Compares the rows of a range. After a fetch, all rows of a list are new objects, most of them with the same
    /// records.
    /// - Returns: Whether their keys differ.
    private func compare(_ range: ResultRows.Change, _ next: ResultRows, _ changes: inout Changes) -> Bool {
        var old: [String: ResultRow] = Dictionary(minimumCapacity: range.old.count)
        for index in range.old { old[rows[index].key] = rows[index] }
        var isSame = range.old.count == range.new.count
        for (offset, index) in range.new.enumerated() {
            let row = next[index]
            if isSame { isSame = rows[range.old.lowerBound + offset].key == row.key }
            let before = old.removeValue(forKey: row.key)
            if before.map({ $0 !== row && $0.record != row.record }) ?? true { changes.records.append(row) }
        }
        changes.lostCount += old.count
        return !isSame
    }

    /// Divides the keys of changed chunks.
    /// - Returns: Whether there was room.
    private func rewrite(_ dirty: [(chunks: Range<Int>, growth: Int)], _ ends: [Int], _ changes: inout Changes) -> Bool
    {
        // From the end, so that the indices of chunks before stay what they are.
        var later = dirty.reduce(0) { $0 + $1.growth }
        for (range, growth) in dirty.reversed() {
            later -= growth
            let start = (range.lowerBound > 0 ? ends[range.lowerBound - 1] : 0) + later
            let end = (range.isEmpty ? 0 : ends[range.upperBound - 1]) + later + growth
            let sizes = Self.sizes(end - start)
            var places = chunks[range].map(\.place)
            changes.removed += places.dropFirst(sizes.count)
            places = Array(places.prefix(sizes.count))
            let left = places.last ?? (range.lowerBound > 0 ? chunks[range.lowerBound - 1].place : 0)
            let right = range.upperBound < chunks.count ? chunks[range.upperBound].place : nil
            guard let added = Self.places(sizes.count - places.count, between: left, and: right) else { return false }
            let next = zip(places + added, sizes).map { Chunk(place: $0, count: $1) }
            changes.write(next, from: start)
            changes.chunks.replaceSubrange(range, with: next)
        }
        return true
    }

    /// Returns the sizes of the chunks for a number of keys. They are not full, so that the next key divides none.
    fileprivate static func sizes(_ count: Int) -> [Int] {
        let size = count <= maximumSize ? maximumSize : maximumSize * 3 / 4
        return stride(from: 0, to: count, by: size).map { Swift.min(size, count - $0) }
    }

    /// Returns the places of further chunks; nil if there is no room.
    fileprivate static func places(_ count: Int, between left: Int, and right: Int?) -> [Int]? {
        let step = right.map { ($0 - left) / (count + 1) } ?? Swift.min(Self.step, (limit - left) / (count + 1))
        guard count > 0 else { return [] }
        return step > 0 ? (1...count).map { left + $0 * step } : nil
    }

    /// Returns the index of the chunk that has a row.
    private static func index(of row: Int, in ends: [Int]) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= row { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SavedList.Changes {
    fileprivate mutating func write(_ chunks: [SavedList.Chunk], from start: Int) {
        var index = start
        for chunk in chunks {
            written.append((chunk.place, index..<index + chunk.count))
            index += chunk.count
        }
    }

    /// Gives all chunks new places.
    fileprivate mutating func rewriteAll(_ count: Int, in old: [SavedList.Chunk]) {
        let sizes = SavedList.sizes(count)
        let places = SavedList.places(sizes.count, between: 0, and: nil) ?? []
        (removed, written) = (old.map(\.place), [])
        chunks = zip(places, sizes).map { SavedList.Chunk(place: $0, count: $1) }
        write(chunks, from: 0)
    }
}

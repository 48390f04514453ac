/// The rows of a live result in order, in chunks.
///
/// A change copies the chunk it touches and the list of chunks. Copies of the result, such as delivered snapshots, share everything else.
struct LiveRows: RandomAccessCollection, Sendable {
    /// A range of rows that replaces a range of earlier rows.
    struct Change: Sendable, Equatable {
        let old: Range<Int>
        let new: Range<Int>
    }

    /// The number of rows above which a chunk is split. Near the square root of 100,000, so that a chunk and the list of chunks cost the same.
    static let maximumChunk = 256

    /// Never contains an empty chunk.
    private var chunks: [[LiveRow]] = []
    /// The index of the first row of each chunk.
    private var starts: [Int] = []
    private(set) var count = 0

    init() {}

    init(_ rows: [LiveRow]) {
        // Not full, so that the next insertion does not split a chunk.
        let size = Self.maximumChunk * 3 / 4
        starts = Array(stride(from: 0, to: rows.count, by: size))
        chunks = starts.map { Array(rows[$0..<Swift.min($0 + size, rows.count)]) }
        count = rows.count
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(index: Int) -> LiveRow {
        let chunk = chunk(of: index)
        return chunks[chunk][index - starts[chunk]]
    }

    func makeIterator() -> FlattenSequence<[[LiveRow]]>.Iterator { chunks.joined().makeIterator() }

    /// Returns the last chunk that does not begin after an index.
    private func chunk(of index: Int) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return low
    }

    mutating func insert(_ row: LiveRow, at index: Int) {
        guard !chunks.isEmpty else {
            self = LiveRows([row])
            return
        }
        let chunk = chunk(of: Swift.max(index - 1, 0))
        chunks[chunk].insert(row, at: index - starts[chunk])
        moveStarts(after: chunk, by: 1)
        guard chunks[chunk].count > Self.maximumChunk else { return }
        let half = Self.maximumChunk / 2
        chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
        chunks[chunk].removeSubrange(half...)
        starts.insert(starts[chunk] + half, at: chunk + 1)
    }

    mutating func replace(_ index: Int, with row: LiveRow) {
        let chunk = chunk(of: index)
        chunks[chunk][index - starts[chunk]] = row
    }

    mutating func remove(at index: Int) {
        let chunk = chunk(of: index)
        chunks[chunk].remove(at: index - starts[chunk])
        moveStarts(after: chunk, by: -1)
        let rest = chunks[chunk].count
        if rest < Self.maximumChunk / 4, chunk + 1 < chunks.count, rest + chunks[chunk + 1].count <= Self.maximumChunk {
            chunks[chunk] += chunks.remove(at: chunk + 1)
            starts.remove(at: chunk + 1)
        } else if rest == 0 {
            chunks.remove(at: chunk)
            starts.remove(at: chunk)
        }
    }

    /// Removes rows without touching the chunks that contain none of them.
    mutating func removeAll(where isRemoved: (LiveRow) -> Bool) {
        for chunk in chunks.indices where chunks[chunk].contains(where: isRemoved) { chunks[chunk].removeAll(where: isRemoved) }
        chunks.removeAll(where: \.isEmpty)
        (starts, count) = ([], 0)
        for chunk in chunks {
            starts.append(count)
            count += chunk.count
        }
    }

    private mutating func moveStarts(after chunk: Int, by distance: Int) {
        count += distance
        for later in (chunk + 1)..<starts.count { starts[later] += distance }
    }

    /// Returns the first rows.
    func limited(to limit: Int) -> LiveRows {
        guard limit < count else { return self }
        guard limit > 0 else { return LiveRows() }
        var rows = self
        let last = chunk(of: limit - 1)
        rows.chunks.removeSubrange((last + 1)...)
        rows.chunks[last].removeSubrange((limit - starts[last])...)
        rows.starts.removeSubrange((last + 1)...)
        rows.count = limit
        return rows
    }

    /// Returns the index of the first row for which a condition is false that is true for all rows before it, by bisection.
    func partitionIndex(_ isBefore: (LiveRow) -> Bool) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(chunks[middle][chunks[middle].count - 1]) { low = middle + 1 } else { high = middle }
        }
        guard low < chunks.count else { return count }
        let (rows, start) = (chunks[low], starts[low])
        (low, high) = (0, rows.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(rows[middle]) { low = middle + 1 } else { high = middle }
        }
        return start + low
    }
}

// MARK: - Comparing

extension LiveRows {
    /// Returns the ranges in which these rows differ from earlier ones. Shared chunks are skipped without looking at their rows.
    func changes(since old: LiveRows) -> [Change] {
        var changes: [Change] = []
        var (here, there) = (0, 0)
        while here < chunks.count || there < old.chunks.count {
            if shares(here, with: old, there) {
                (here, there) = (here + 1, there + 1)
                continue
            }
            let next = nextShared(here, old, there)
            if let change = change(start(here)..<start(next.here), old, old.start(there)..<old.start(next.there)) { changes.append(change) }
            (here, there) = next
        }
        return changes
    }

    private func start(_ chunk: Int) -> Int { chunk < starts.count ? starts[chunk] : count }

    private func shares(_ chunk: Int, with old: LiveRows, _ other: Int) -> Bool {
        guard chunk < chunks.count, other < old.chunks.count else { return false }
        return chunks[chunk].withUnsafeBufferPointer { rows in
            old.chunks[other].withUnsafeBufferPointer { $0.baseAddress == rows.baseAddress && $0.count == rows.count }
        }
    }

    /// Returns the next pair of chunks that are shared, or the ends.
    private func nextShared(_ here: Int, _ old: LiveRows, _ there: Int) -> (here: Int, there: Int) {
        // A change replaces, splits or joins a few chunks. After a fetch, all of them are new.
        for distance in 1...12 {
            for step in 0...distance where shares(here + step, with: old, there + distance - step) {
                return (here + step, there + distance - step)
            }
        }
        return (chunks.count, old.chunks.count)
    }

    private func change(_ new: Range<Int>, _ old: LiveRows, _ range: Range<Int>) -> Change? {
        var (new, range) = (new, range)
        while let here = new.first, let there = range.first, self[here] === old[there] {
            (new, range) = (new.dropFirst(), range.dropFirst())
        }
        while let here = new.last, let there = range.last, self[here] === old[there] {
            (new, range) = (new.dropLast(), range.dropLast())
        }
        return new.isEmpty && range.isEmpty ? nil : Change(old: range, new: new)
    }
}

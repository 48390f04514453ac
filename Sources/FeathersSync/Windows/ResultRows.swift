import FeathersCore

/// The rows of a result in order, in a list of chunks.
///
/// A change copies the list and one chunk. Copies of the result, such as delivered snapshots, share everything else.
struct ResultRows: RandomAccessCollection, Sendable {
    /// A range of rows that replaces a range of earlier rows.
    struct Change: Sendable, Equatable {
        let old: Range<Int>
        let new: Range<Int>
    }

    /// A few rows. An object, so that two results can tell what they share.
    private final class Chunk: Sendable {
        let rows: [ResultRow]

        init(_ rows: some Sequence<ResultRow>) { self.rows = Array(rows) }
    }

    /// The number of rows above which a chunk is split.
    private static let maximumSize = 128

    private var chunks: [Chunk] = []
    /// The index after the last row of each chunk.
    private var ends: [Int] = []

    init() {}

    init(_ rows: [ResultRow]) {
        // Not full, so that the next insertion does not split a chunk.
        let size = Self.maximumSize * 3 / 4
        chunks = stride(from: 0, to: rows.count, by: size).map { Chunk(rows[$0..<Swift.min($0 + size, rows.count)]) }
        countChunks(from: 0)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { ends.last ?? 0 }

    subscript(index: Int) -> ResultRow {
        let chunk = chunk(at: index)
        return chunks[chunk].rows[index - start(of: chunk)]
    }

    func makeIterator() -> some IteratorProtocol<ResultRow> { chunks.lazy.flatMap(\.rows).makeIterator() }

    mutating func insert(_ row: ResultRow, at index: Int) {
        guard !chunks.isEmpty else {
            self = ResultRows([row])
            return
        }
        let chunk = index == count ? chunks.count - 1 : chunk(at: index)
        var rows = chunks[chunk].rows
        rows.insert(row, at: index - start(of: chunk))
        if rows.count > Self.maximumSize {
            let half = rows.count / 2
            chunks.replaceSubrange(chunk...chunk, with: [Chunk(rows[..<half]), Chunk(rows[half...])])
        } else {
            chunks[chunk] = Chunk(rows)
        }
        countChunks(from: chunk)
    }

    mutating func replace(_ index: Int, with row: ResultRow) {
        let chunk = chunk(at: index)
        var rows = chunks[chunk].rows
        rows[index - start(of: chunk)] = row
        chunks[chunk] = Chunk(rows)
    }

    mutating func remove(at index: Int) {
        let chunk = chunk(at: index)
        var rows = chunks[chunk].rows
        rows.remove(at: index - start(of: chunk))
        if rows.isEmpty { chunks.remove(at: chunk) } else { chunks[chunk] = Chunk(rows) }
        countChunks(from: chunk)
    }

    /// Removes rows without touching the chunks that contain none of them.
    mutating func removeAll(where isRemoved: (ResultRow) -> Bool) {
        chunks = chunks.compactMap { chunk in
            guard chunk.rows.contains(where: isRemoved) else { return chunk }
            let rows = chunk.rows.filter { !isRemoved($0) }
            return rows.isEmpty ? nil : Chunk(rows)
        }
        countChunks(from: 0)
    }

    /// Returns the rows in an order, in the same places.
    func inOrder(of sorter: QuerySorter) -> ResultRows {
        let sorted = sorted { left, right in
            sorter.order(of: left.sortValue, { left.record[$0] }, and: right.sortValue) { right.record[$0] } < 0
        }
        return ResultRows(zip(self, sorted).map { $1.moved(to: $0.place) })
    }

    /// Returns the first rows.
    func limited(to limit: Int) -> ResultRows {
        guard limit < count else { return self }
        var rows = ResultRows()
        guard limit > 0 else { return rows }
        let chunk = chunk(at: limit - 1)
        rows.chunks = Array(chunks[..<chunk])
        let rest = limit - start(of: chunk)
        rows.chunks.append(rest < chunks[chunk].rows.count ? Chunk(chunks[chunk].rows.prefix(rest)) : chunks[chunk])
        rows.countChunks(from: 0)
        return rows
    }

    /// Returns the index of the first row for which a condition is false that is true for all rows before it, by
    /// bisection.
    func partitionIndex(_ isBefore: (ResultRow) -> Bool) -> Int {
        let chunk = Self.partitionIndex(chunks) { isBefore($0.rows[$0.rows.count - 1]) }
        guard chunk < chunks.count else { return count }
        return start(of: chunk) + Self.partitionIndex(chunks[chunk].rows, isBefore)
    }

    private static func partitionIndex<Element>(_ elements: [Element], _ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(elements[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func chunk(at index: Int) -> Int { Self.partitionIndex(ends) { $0 <= index } }

    private func start(of chunk: Int) -> Int { chunk > 0 ? ends[chunk - 1] : 0 }

    private mutating func countChunks(from first: Int) {
        ends.removeSubrange(Swift.min(first, ends.count)...)
        var end = ends.last ?? 0
        for chunk in chunks[first...] {
            end += chunk.rows.count
            ends.append(end)
        }
    }
}

// MARK: - Changes

extension ResultRows {
    /// Returns the ranges in which these rows differ from earlier ones. Shared chunks are skipped without looking at
    /// their rows.
    func changes(since old: ResultRows) -> [Change] {
        var changes: [Change] = []
        var (here, there) = (0, 0)
        while here < chunks.count || there < old.chunks.count {
            if here < chunks.count, there < old.chunks.count, chunks[here] === old.chunks[there] {
                (here, there) = (here + 1, there + 1)
                continue
            }
            let next = nextShared(here, there, old)
            let change = Change(
                chunks[here..<next.here].flatMap(\.rows), at: start(of: here),
                replacing: old.chunks[there..<next.there].flatMap(\.rows), at: old.start(of: there))
            if let change { changes.append(change) }
            (here, there) = next
        }
        return changes
    }

    /// Returns the nearest chunks that are shared with earlier rows; the ends if none is near. A change replaces, splits
    /// or removes a few chunks. After a fetch, all of them are new.
    private func nextShared(_ here: Int, _ there: Int, _ old: ResultRows) -> (here: Int, there: Int) {
        for distance in 1...24 {
            for step in 0...distance {
                let (here, there) = (here + step, there + distance - step)
                guard here < chunks.count, there < old.chunks.count else { continue }
                if chunks[here] === old.chunks[there] { return (here, there) }
            }
        }
        return (chunks.count, old.chunks.count)
    }
}

extension ResultRows.Change {
    /// Creates a change without the rows that are the same at both ends; nil if all are.
    fileprivate init?(_ new: [ResultRow], at start: Int, replacing old: [ResultRow], at oldStart: Int) {
        let most = Swift.min(new.count, old.count)
        var (first, last) = (0, 0)
        while first < most, new[first] === old[first] { first += 1 }
        while last < most - first, new[new.count - 1 - last] === old[old.count - 1 - last] { last += 1 }
        guard first + last < Swift.max(new.count, old.count) else { return nil }
        self.init(old: oldStart + first..<oldStart + old.count - last, new: start + first..<start + new.count - last)
    }
}

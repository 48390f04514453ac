/// A result as it is in the database, so that a change of it changes few rows there.
struct SavedResult: Sendable {
    /// What turns a saved result into another one.
    struct Changes: Sendable {
        /// The places that no longer have a row.
        fileprivate(set) var removed: [Int] = []
        fileprivate(set) var inserted: [(Int, ResultRow)] = []
        /// The places of all rows afterward.
        fileprivate(set) var places: [Int]
    }

    /// The number of the result in the database.
    let number: Int
    var rows: ResultRows
    /// The place of each row, in ascending order. Places have gaps, so that a new row needs no other ones to move.
    var places: [Int]

    /// The number of places.
    static let limit = 1 << 40
    private static let step = 1 << 20

    /// Returns places for the rows of a new result.
    static func places(_ count: Int) -> [Int] {
        let step = Swift.min(Self.step, limit / (count + 1))
        return (0..<count).map { ($0 + 1) * step }
    }

    /// Returns the changes that turn this result into another one; nil if the rows that are new find no place between
    /// those that stay.
    func changes(to next: ResultRows) -> Changes? {
        var changes = Changes(places: places)
        // From the end, so that the indices before a range stay what they are.
        for range in next.changes(since: rows).reversed() {
            var kept = kept(range, next, &changes.removed)
            let left = range.old.lowerBound > 0 ? places[range.old.lowerBound - 1] : 0
            let right = range.old.upperBound < places.count ? places[range.old.upperBound] : nil
            let isNew = kept.map { $0 == nil }
            guard Self.fill(&kept, from: left, to: right) else { return nil }
            let filled = kept.compactMap(\.self)
            for (offset, place) in filled.enumerated() where isNew[offset] {
                changes.inserted.append((place, next[range.new.lowerBound + offset]))
            }
            changes.places.replaceSubrange(range.old, with: filled)
        }
        return changes
    }

    /// Returns the places of the rows in a range that stay, nil for those that are new. After a fetch, all rows of a
    /// result are new objects, most of them with the same records.
    private func kept(_ range: ResultRows.Change, _ next: ResultRows, _ removed: inout [Int]) -> [Int?] {
        var indices: [String: Int] = Dictionary(minimumCapacity: range.old.count)
        for index in range.old { indices[rows[index].key] = index }
        var first = range.old.lowerBound
        let kept: [Int?] = range.new.map { index in
            let row = next[index]
            guard let old = indices[row.key], old >= first, rows[old] === row || rows[old].record == row.record else {
                return nil
            }
            removed += places[first..<old]
            first = old + 1
            return places[old]
        }
        removed += places[first..<range.old.upperBound]
        return kept
    }

    /// Gives each row without a place one between its neighbors.
    /// - Returns: Whether there was room.
    private static func fill(_ places: inout [Int?], from left: Int, to right: Int?) -> Bool {
        var left = left
        var index = 0
        while index < places.count {
            if let place = places[index] {
                (left, index) = (place, index + 1)
                continue
            }
            let end = places[index...].firstIndex { $0 != nil } ?? places.count
            let (count, bound) = (end - index, end < places.count ? places[end] : right)
            let step = bound.map { ($0 - left) / (count + 1) } ?? Swift.min(Self.step, (limit - left) / (count + 1))
            guard step > 0 else { return false }
            for offset in 1...count { places[index + offset - 1] = left + offset * step }
            (left, index) = (left + count * step, end)
        }
        return true
    }
}

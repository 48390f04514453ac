/// A part of a live result: rows, or smaller parts.
struct LivePart: Sendable {
    /// The number of rows or parts above which a part is split.
    static let maximumSize = 32

    /// Empty unless this is a leaf.
    private(set) var rows: [LiveRow] = []
    /// Empty in a leaf. None of them is empty, and all have the same height.
    private(set) var parts: [LivePart] = []
    /// The number of rows, those in the parts included.
    private(set) var count: Int

    init(rows: [LiveRow]) { (self.rows, count) = (rows, rows.count) }

    init(parts: [LivePart]) { (self.parts, count) = (parts, parts.reduce(0) { $0 + $1.count }) }

    var isLeaf: Bool { parts.isEmpty }
    private var size: Int { rows.count + parts.count }
    private var last: LiveRow { isLeaf ? rows[rows.count - 1] : parts[parts.count - 1].last }

    /// Whether both are the same in memory.
    func isShared(with other: LivePart) -> Bool {
        guard count == other.count, isLeaf == other.isLeaf else { return false }
        func isSame<Element>(_ left: [Element], _ right: [Element]) -> Bool {
            left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { $0.baseAddress == left.baseAddress } }
        }
        return isLeaf ? isSame(rows, other.rows) : isSame(parts, other.parts)
    }

    subscript(index: Int) -> LiveRow {
        guard !isLeaf else { return rows[index] }
        let (part, index) = self.part(at: index)
        return parts[part][index]
    }

    /// Returns the rows of the leaf that contains an index.
    func leaf(at index: Int) -> [LiveRow] {
        guard !isLeaf else { return rows }
        let (part, index) = self.part(at: index)
        return parts[part].leaf(at: index)
    }

    /// Returns the part that contains an index, and the index in that part. The index after all rows is in the last part.
    private func part(at index: Int) -> (part: Int, index: Int) {
        var (part, index) = (0, index)
        while part < parts.count - 1, index >= parts[part].count { (part, index) = (part + 1, index - parts[part].count) }
        return (part, index)
    }

    /// - Returns: The second half of this part, if it has become too large.
    mutating func insert(_ row: LiveRow, at index: Int) -> LivePart? {
        count += 1
        if isLeaf {
            rows.insert(row, at: index)
        } else {
            let (part, index) = self.part(at: index)
            if let half = parts[part].insert(row, at: index) { parts.insert(half, at: part + 1) }
        }
        guard size > Self.maximumSize else { return nil }
        let middle = size / 2
        let half = isLeaf ? LivePart(rows: Array(rows[middle...])) : LivePart(parts: Array(parts[middle...]))
        if isLeaf { rows.removeSubrange(middle...) } else { parts.removeSubrange(middle...) }
        count -= half.count
        return half
    }

    mutating func replace(_ index: Int, with row: LiveRow) {
        guard !isLeaf else { return rows[index] = row }
        let (part, index) = self.part(at: index)
        parts[part].replace(index, with: row)
    }

    mutating func remove(at index: Int) {
        count -= 1
        guard !isLeaf else {
            rows.remove(at: index)
            return
        }
        let (part, index) = self.part(at: index)
        parts[part].remove(at: index)
        let rest = parts[part].size
        if rest == 0 {
            parts.remove(at: part)
        } else if rest < Self.maximumSize / 4, part + 1 < parts.count, rest + parts[part + 1].size <= Self.maximumSize {
            let next = parts.remove(at: part + 1)
            parts[part].rows += next.rows
            parts[part].parts += next.parts
            parts[part].count += next.count
        }
    }

    /// Returns the part without some rows; the same part if it contains none of them.
    func removing(_ isRemoved: (LiveRow) -> Bool) -> LivePart {
        guard !isLeaf else { return rows.contains(where: isRemoved) ? LivePart(rows: rows.filter { !isRemoved($0) }) : self }
        let rest = LivePart(parts: parts.map { $0.removing(isRemoved) }.filter { $0.count > 0 })
        return rest.count == count ? self : rest
    }

    /// Returns the first rows.
    func prefix(_ limit: Int) -> LivePart {
        guard limit < count else { return self }
        guard !isLeaf else { return LivePart(rows: Array(rows.prefix(limit))) }
        let (part, index) = self.part(at: limit)
        return LivePart(parts: parts[..<part] + (index > 0 ? [parts[part].prefix(index)] : []))
    }

    /// Returns the index of the first row for which a condition is false that is true for all rows before it, by bisection.
    /// - Parameter endsAfter: Whether the condition is known to be false for the last row.
    func partitionIndex(_ isBefore: (LiveRow) -> Bool, endsAfter: Bool = false) -> Int {
        var (low, high) = (0, endsAfter ? size - 1 : size)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(isLeaf ? rows[middle] : parts[middle].last) { low = middle + 1 } else { high = middle }
        }
        guard !isLeaf, low < parts.count else { return isLeaf ? low : count }
        return parts[..<low].reduce(0) { $0 + $1.count } + parts[low].partitionIndex(isBefore, endsAfter: true)
    }
}

/// A place between the parts of a live result, for a walk over large parts where possible and small ones where necessary.
struct LiveCursor {
    /// The parts that follow on each level. None is empty.
    private var levels: [ArraySlice<LivePart>]
    /// The index of the next row.
    private(set) var position = 0

    init(_ root: LivePart) { levels = root.count > 0 ? [[root]] : [] }

    var isAtEnd: Bool { levels.isEmpty }

    /// Whether the next part, or a later one of the same level, is the same in memory as another cursor's.
    func isShared(after steps: Int = 0, with other: LiveCursor, after otherSteps: Int = 0) -> Bool {
        guard let here = levels.last, let there = other.levels.last, steps < here.count, otherSteps < there.count else { return false }
        return here[here.startIndex + steps].isShared(with: there[there.startIndex + otherSteps])
    }

    /// Whether the next part must be divided to be compared with another cursor's: nil if both are leaves, false if the other must be divided.
    func isLarger(than other: LiveCursor) -> Bool? {
        let (here, there) = (levels.last?.first, other.levels.last?.first)
        if let here, !here.isLeaf, there.map({ $0.isLeaf || here.count >= $0.count }) ?? true { return true }
        return there.map(\.isLeaf) ?? true ? nil : false
    }

    /// Returns how many leaves to take from both for the next ones to be shared; if none is near, one from each that has any left.
    func stepsToShared(_ other: LiveCursor) -> (here: Int, there: Int) {
        // A change replaces, splits or joins a few leaves. After a fetch, all of them are new.
        for distance in 1...12 {
            for step in 0...distance where isShared(after: step, with: other, after: distance - step) { return (step, distance - step) }
        }
        return (isAtEnd ? 0 : 1, other.isAtEnd ? 0 : 1)
    }

    /// Replaces the next part by its parts.
    mutating func descend() {
        guard let part = levels[levels.count - 1].popFirst() else { return }
        dropEmptyLevels()
        levels.append(part.parts[...])
    }

    /// Returns the rows of the next part, a leaf, and passes it.
    mutating func next() -> [LiveRow] {
        guard let part = levels[levels.count - 1].popFirst() else { return [] }
        position += part.count
        dropEmptyLevels()
        return part.rows
    }

    /// Passes the parts that are the same in memory as another cursor's.
    mutating func passShared(with other: inout LiveCursor) {
        while let here = levels.last, let there = other.levels.last {
            var (steps, rows) = (0, 0)
            here.withUnsafeBufferPointer { here in
                there.withUnsafeBufferPointer { there in
                    while steps < min(here.count, there.count), here[steps].isShared(with: there[steps]) {
                        rows += here[steps].count
                        steps += 1
                    }
                }
            }
            guard steps > 0 else { return }
            pass(steps, rows)
            other.pass(steps, rows)
        }
    }

    private mutating func pass(_ steps: Int, _ rows: Int) {
        position += rows
        levels[levels.count - 1].removeFirst(steps)
        dropEmptyLevels()
    }

    private mutating func dropEmptyLevels() { while levels.last?.isEmpty == true { levels.removeLast() } }
}

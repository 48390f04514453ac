/// A part of a live result: rows, or smaller parts.
struct LivePart: Sendable {
    /// One reference, so that copying a list of parts counts one for each.
    private enum Content {
        case rows([LiveRow])
        /// None of them is empty, and all have the same height.
        case parts([LivePart])
    }

    /// The number of rows or parts above which a part is split.
    static let maximumSize = 32

    private var content: Content
    /// The number of rows, those in the parts included.
    private(set) var count: Int

    init(rows: [LiveRow]) { (content, count) = (.rows(rows), rows.count) }

    init(parts: [LivePart]) { (content, count) = (.parts(parts), parts.reduce(0) { $0 + $1.count }) }

    /// The rows of a leaf; empty in any other part.
    var rows: [LiveRow] { if case .rows(let rows) = content { rows } else { [] } }
    /// The parts of a part that is not a leaf.
    var parts: [LivePart] { if case .parts(let parts) = content { parts } else { [] } }
    var isLeaf: Bool { if case .rows = content { true } else { false } }

    private var size: Int {
        switch content {
        case .rows(let rows): rows.count
        case .parts(let parts): parts.count
        }
    }

    private var last: LiveRow {
        switch content {
        case .rows(let rows): rows[rows.count - 1]
        case .parts(let parts): parts[parts.count - 1].last
        }
    }

    /// Whether both are the same in memory.
    func isShared(with other: LivePart) -> Bool { count == other.count && memory == other.memory }

    private var memory: UnsafeRawPointer? {
        switch content {
        case .rows(let rows): rows.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
        case .parts(let parts): parts.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
        }
    }

    subscript(index: Int) -> LiveRow {
        switch content {
        case .rows(let rows): return rows[index]
        case .parts(let parts):
            let (part, index) = Self.place(of: index, in: parts)
            return parts[part][index]
        }
    }

    /// Returns the rows of the leaf that contains an index.
    func leaf(at index: Int) -> [LiveRow] {
        switch content {
        case .rows(let rows): return rows
        case .parts(let parts):
            let (part, index) = Self.place(of: index, in: parts)
            return parts[part].leaf(at: index)
        }
    }

    /// Returns the part that contains an index, and the index in that part. The index after all rows is in the last
    /// part.
    private static func place(of index: Int, in parts: [LivePart]) -> (part: Int, index: Int) {
        parts.withUnsafeBufferPointer { parts in
            var (part, index) = (0, index)
            while part < parts.count - 1, index >= parts[part].count {
                (part, index) = (part + 1, index - parts[part].count)
            }
            return (part, index)
        }
    }

    /// Changes the rows or the parts, in place if no other list shares them.
    private mutating func change<Result>(
        rows change: (inout [LiveRow]) -> Result, parts changeParts: (inout [LivePart]) -> Result
    )
        -> Result
    {
        switch content {
        case .rows(var rows):
            content = .rows([])
            defer { content = .rows(rows) }
            return change(&rows)
        case .parts(var parts):
            content = .rows([])
            defer { content = .parts(parts) }
            return changeParts(&parts)
        }
    }

    /// - Returns: The second half of this part, if it has become too large.
    mutating func insert(_ row: LiveRow, at index: Int) -> LivePart? {
        let half: LivePart? = change {
            $0.insert(row, at: index)
            return Self.takeHalf(of: &$0).map(LivePart.init(rows:))
        } parts: { parts in
            let (part, index) = Self.place(of: index, in: parts)
            if let half = parts[part].insert(row, at: index) { parts.insert(half, at: part + 1) }
            return Self.takeHalf(of: &parts).map(LivePart.init(parts:))
        }
        count += 1 - (half?.count ?? 0)
        return half
    }

    private static func takeHalf<Element>(of elements: inout [Element]) -> [Element]? {
        guard elements.count > maximumSize else { return nil }
        let middle = elements.count / 2
        defer { elements.removeSubrange(middle...) }
        return Array(elements[middle...])
    }

    mutating func replace(_ index: Int, with row: LiveRow) {
        change {
            $0[index] = row
        } parts: { parts in
            let (part, index) = Self.place(of: index, in: parts)
            parts[part].replace(index, with: row)
        }
    }

    mutating func remove(at index: Int) {
        count -= 1
        change {
            _ = $0.remove(at: index)
        } parts: { parts in
            let (part, index) = Self.place(of: index, in: parts)
            parts[part].remove(at: index)
            let rest = parts[part].size
            if rest == 0 {
                parts.remove(at: part)
            } else if rest < Self.maximumSize / 4, part + 1 < parts.count,
                rest + parts[part + 1].size <= Self.maximumSize
            {
                let next = parts.remove(at: part + 1)
                parts[part].append(next)
            }
        }
    }

    /// Adds the rows or parts of a part of the same height.
    private mutating func append(_ next: LivePart) {
        count += next.count
        change {
            $0 += next.rows
        } parts: {
            $0 += next.parts
        }
    }

    /// Returns the part without some rows; the same part if it contains none of them.
    func removing(_ isRemoved: (LiveRow) -> Bool) -> LivePart {
        switch content {
        case .rows(let rows):
            return rows.contains(where: isRemoved) ? LivePart(rows: rows.filter { !isRemoved($0) }) : self
        case .parts(let parts):
            let rest = LivePart(parts: parts.map { $0.removing(isRemoved) }.filter { $0.count > 0 })
            return rest.count == count ? self : rest
        }
    }

    /// Returns the first rows.
    func prefix(_ limit: Int) -> LivePart {
        guard limit < count else { return self }
        switch content {
        case .rows(let rows): return LivePart(rows: Array(rows.prefix(limit)))
        case .parts(let parts):
            let (part, index) = Self.place(of: limit, in: parts)
            return LivePart(parts: parts[..<part] + (index > 0 ? [parts[part].prefix(index)] : []))
        }
    }

    /// Returns the index of the first row for which a condition is false that is true for all rows before it, by
    /// bisection.
    /// - Parameter endsAfter: Whether the condition is known to be false for the last row.
    func partitionIndex(_ isBefore: (LiveRow) -> Bool, endsAfter: Bool = false) -> Int {
        switch content {
        case .rows(let rows): return Self.bisect(rows, endsAfter, isBefore)
        case .parts(let parts):
            let low = Self.bisect(parts, endsAfter) { isBefore($0.last) }
            guard low < parts.count else { return count }
            return parts[..<low].reduce(0) { $0 + $1.count } + parts[low].partitionIndex(isBefore, endsAfter: true)
        }
    }

    private static func bisect<Element>(_ elements: [Element], _ endsAfter: Bool, _ isBefore: (Element) -> Bool) -> Int
    {
        var (low, high) = (0, endsAfter ? elements.count - 1 : elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(elements[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A place between the parts of a live result, for a walk over large parts where possible and small ones where
/// necessary.
struct LiveCursor {
    /// The parts that follow on each level. None is empty.
    private var levels: [ArraySlice<LivePart>]
    /// The index of the next row.
    private(set) var position: Int

    /// - Parameters:
    ///   - parts: Parts of the same height. Only that of an empty list is empty.
    ///   - position: The index of their first row.
    init(_ parts: ArraySlice<LivePart>, at position: Int) {
        levels = parts.contains { $0.count > 0 } ? [parts] : []
        self.position = position
    }

    var isAtEnd: Bool { levels.isEmpty }

    /// Whether the next part, or a later one of the same level, is the same in memory as another cursor's.
    func isShared(after steps: Int = 0, with other: LiveCursor, after otherSteps: Int = 0) -> Bool {
        guard let here = levels.last, let there = other.levels.last, steps < here.count, otherSteps < there.count else {
            return false
        }
        return here[here.startIndex + steps].isShared(with: there[there.startIndex + otherSteps])
    }

    /// Whether the next part must be divided to be compared with another cursor's: nil if both are leaves, false if the
    /// other must be divided.
    func isLarger(than other: LiveCursor) -> Bool? {
        let (here, there) = (levels.last?.first, other.levels.last?.first)
        if let here, !here.isLeaf, there.map({ $0.isLeaf || here.count >= $0.count }) ?? true { return true }
        return there.map(\.isLeaf) ?? true ? nil : false
    }

    /// Returns how many leaves to take from both for the next ones to be shared; if none is near, one from each that
    /// has any left.
    func stepsToShared(_ other: LiveCursor) -> (here: Int, there: Int) {
        // A change replaces, splits or joins a few leaves. After a fetch, all of them are new.
        for distance in 1...12 {
            for step in 0...distance where isShared(after: step, with: other, after: distance - step) {
                return (step, distance - step)
            }
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

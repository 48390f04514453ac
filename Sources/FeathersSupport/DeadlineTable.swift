/// Deadlines by key, with the earliest at hand: a heap, so that thousands of waiting requests cost little.
package struct DeadlineTable<Key: Hashable> {
    private var deadlines: [Key: ContinuousClock.Instant] = [:]
    /// All deadlines, including some that were replaced or removed. No element is later than its children, which are at
    /// `2 * index + 1` and `2 * index + 2`.
    private var heap: [(deadline: ContinuousClock.Instant, key: Key)] = []

    package init() {}

    /// A lower bound for all deadlines. It may be too early after a deadline was removed.
    package var earliest: ContinuousClock.Instant? { heap.first?.deadline }

    /// Sets a key's deadline, replacing any previous one. Nil removes it.
    package mutating func set(_ deadline: ContinuousClock.Instant?, for key: Key) {
        deadlines[key] = deadline
        if let deadline {
            heap.append((deadline, key))
            var index = heap.count - 1
            while index > 0, heap[index].deadline < heap[(index - 1) / 2].deadline {
                heap.swapAt(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
        }
        if deadlines.isEmpty || heap.count > 2 * deadlines.count + 64 {
            // A sorted array is a heap.
            heap = deadlines.map { ($0.value, $0.key) }.sorted { $0.deadline < $1.deadline }
        }
    }

    /// Removes and returns the keys whose deadline has passed, earliest first.
    package mutating func due(at now: ContinuousClock.Instant) -> [Key] {
        var due: [Key] = []
        while let first = heap.first, first.deadline <= now {
            removeFirst()
            guard deadlines[first.key] == first.deadline else { continue }
            deadlines[first.key] = nil
            due.append(first.key)
        }
        return due
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var (index, child) = (0, 1)
        while child < heap.count {
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < heap[index].deadline else { return }
            heap.swapAt(index, child)
            (index, child) = (child, 2 * child + 1)
        }
    }
}

extension DeadlineTable: Sendable where Key: Sendable {}

/// Deadlines with the next one first: a binary heap.
struct DeadlineHeap: Sendable {
    private var entries: [(deadline: Duration, id: Int)] = []

    init(_ entries: [(Duration, Int)] = []) {
        // A sorted array is a heap.
        self.entries = entries.sorted { $0.0 < $1.0 }.map { (deadline: $0.0, id: $0.1) }
    }

    var count: Int { entries.count }
    var first: Duration? { entries.first?.deadline }
    var firstEntry: (deadline: Duration, id: Int)? { entries.first }

    mutating func insert(_ deadline: Duration, for id: Int) {
        var child = entries.count
        entries.append((deadline, id))
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].deadline < entries[parent].deadline else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first entry where its time has come.
    mutating func removeFirst(notAfter now: Duration) -> (deadline: Duration, id: Int)? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        removeFirst()
        return first
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            let right = left + 1
            guard left < entries.count else { return }
            let child = right < entries.count && entries[right].deadline < entries[left].deadline ? right : left
            guard entries[child].deadline < entries[parent].deadline else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}

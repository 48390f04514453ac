/// Who may go, and who waits for a turn, in order: without input or output.
struct TurnQueue<Waiter: Sendable>: Sendable {
    enum Entry: Sendable, Equatable {
        /// It goes at once, and must ``leave()``.
        case goes
        /// It waits until its waiter is handed out.
        case waits
        /// As many wait as may.
        case isFull
    }

    private let limit: Int
    private let capacity: Int
    /// How many have gone and not left.
    private(set) var running = 0
    private var waiters: [Int: Waiter] = [:]
    /// The ids of those who wait in their order, and of some who have given up.
    private var order: [Int] = []
    private var head = 0

    /// - Parameters:
    ///   - limit: how many go at once.
    ///   - capacity: how many may wait.
    init(limit: Int, capacity: Int) {
        (self.limit, self.capacity) = (limit, capacity)
    }

    /// How many wait.
    var waiting: Int { waiters.count }

    /// Takes a turn where there is one, which is where nobody waits; else tells what would become of one that waits.
    mutating func enterAtOnce() -> Entry {
        guard running < limit else { return waiters.count < capacity ? .waits : .isFull }
        running += 1
        return .goes
    }

    mutating func enter(_ id: Int, _ waiter: Waiter) -> Entry {
        let entry = enterAtOnce()
        guard entry == .waits else { return entry }
        waiters[id] = waiter
        order.append(id)
        return .waits
    }

    /// One that went has ended.
    /// - Returns: the one whose turn it is now.
    mutating func leave() -> Waiter? {
        while head < order.count {
            let id = order[head]
            head += 1
            guard let waiter = waiters.removeValue(forKey: id) else { continue }
            tidy()
            return waiter
        }
        tidy()
        running -= 1
        return nil
    }

    /// One that waits gives up.
    /// - Returns: its waiter; nil where it does not wait any more.
    mutating func giveUp(_ id: Int) -> Waiter? {
        defer { tidy() }
        return waiters.removeValue(forKey: id)
    }

    /// What was handed out or given up must not grow without bound.
    private mutating func tidy() {
        guard !order.isEmpty, waiters.isEmpty || order.count > 2 * waiters.count + 64 else { return }
        order = order[head...].filter { waiters[$0] != nil }
        head = 0
    }
}

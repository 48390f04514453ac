/// Grants turns up to a limit, and queues the other callers. A state machine without I/O.
package struct TurnQueue<Waiter: Sendable>: Sendable {
    package enum Entry: Sendable, Equatable {
        /// The caller has a turn, and must call ``leave()`` at its end.
        case goes
        /// The caller waits until its waiter is returned.
        case waits
        /// The line is full.
        case isFull
    }

    /// The maximum numbers of concurrent turns and of waiters.
    private let (limit, capacity): (Int, Int)
    /// The number of turns in use.
    package private(set) var running = 0
    private var waiters: [Int: Waiter] = [:]
    /// The ids of the waiters in order, including some that no longer wait.
    private var order: [Int] = []
    private var head = 0

    package init(limit: Int, capacity: Int) { (self.limit, self.capacity) = (limit, capacity) }

    /// The number of waiters.
    package var waiting: Int { waiters.count }

    /// Takes a turn if one is free; otherwise, returns whether there is room to wait. A turn is free only if the line
    /// is empty.
    package mutating func enterAtOnce() -> Entry {
        guard running < limit else { return waiters.count < capacity ? .waits : .isFull }
        running += 1
        return .goes
    }

    package mutating func enter(_ id: Int, _ waiter: Waiter) -> Entry {
        let entry = enterAtOnce()
        guard entry == .waits else { return entry }
        waiters[id] = waiter
        order.append(id)
        return .waits
    }

    /// Ends a turn. Returns the waiter that it is passed on to.
    package mutating func leave() -> Waiter? {
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

    /// Removes a waiter and returns it; nil if it no longer waits.
    package mutating func giveUp(_ id: Int) -> Waiter? {
        defer { tidy() }
        return waiters.removeValue(forKey: id)
    }

    /// Removes ids that no longer wait, so that the line does not grow without bound.
    private mutating func tidy() {
        guard !order.isEmpty, waiters.isEmpty || order.count > 2 * waiters.count + 64 else { return }
        order = order[head...].filter { waiters[$0] != nil }
        head = 0
    }
}

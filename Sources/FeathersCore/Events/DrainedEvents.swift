import Synchronization

/// The items that a reader has drained from its buffer, which it reads without a lock.
///
/// Usually, one task reads a subscription. If two do, each claims the items for the moment in which it takes one.
///
/// Unchecked: the variables are accessed only between ``claim()`` and ``release()``, which at most one thread is at a
/// time, and which order its accesses after those of the previous one.
final class DrainedEvents<Event: BufferedEvent>: @unchecked Sendable {
    typealias Item = EventDelivery<Event>

    /// The number of items that a reader drains at once. It may have that many in addition to those in the buffer.
    static var limit: Int { 64 }

    private let isClaimed = Atomic(false)
    private let unread = Atomic<Int>(0)
    /// Increases when the items that were drained before become void.
    private let edition = Atomic<Int>(0)
    private var items: [Item?] = []
    private var position = 0
    private var itemsEdition = 0

    /// The number of items that have not been read.
    var count: Int { unread.load(ordering: .acquiring) }

    /// Voids the items, because they were meant for the previous user, or because they have no reader any more. Call it
    /// with the lock of the buffer held.
    func void() {
        edition.add(1, ordering: .releasing)
        unread.store(0, ordering: .releasing)
    }

    /// Returns the next item; nil if there are none, or if another reader is taking one.
    func next() -> Item? {
        guard claim() else { return nil }
        defer { release() }
        return removeFirst()
    }

    /// Returns the next item, after draining the buffer if there are none; nil if the buffer is empty too, or if
    /// another reader is taking an item. Call it with the lock of the buffer held.
    /// - Parameter drain: Moves at most so many items from the buffer.
    func fill(_ drain: (inout [Item?], Int) -> Void) -> Item? {
        guard claim() else { return nil }
        defer { release() }
        if let item = removeFirst() { return item }
        drain(&items, Self.limit)
        itemsEdition = edition.load(ordering: .relaxed)
        unread.store(items.count, ordering: .releasing)
        return removeFirst()
    }

    private func removeFirst() -> Item? {
        guard position < items.count else { return nil }
        guard itemsEdition == edition.load(ordering: .acquiring) else {
            removeAll()
            return nil
        }
        let item = items[position].take()
        position += 1
        if position == items.count { removeAll() } else { unread.store(items.count - position, ordering: .releasing) }
        return item
    }

    private func removeAll() {
        items.removeAll(keepingCapacity: true)
        position = 0
        unread.store(0, ordering: .releasing)
    }

    private func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiring) }

    private func release() { isClaimed.store(false, ordering: .releasing) }
}

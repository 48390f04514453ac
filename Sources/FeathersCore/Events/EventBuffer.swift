import FeathersSupport

/// An event that can wait for its reader.
package protocol BufferedEvent: Sendable {
    associatedtype Name: Equatable, Sendable

    var name: Name { get }
    /// How many bytes the event came in; 0 for one of this process.
    var weight: Int { get }
}

/// What waits for a slow reader: at most so many items and bytes, of which the oldest are given up, and a marker that stands exactly where they
/// are missing.
struct EventBuffer<Event: BufferedEvent>: Sendable {
    enum Item: Sendable {
        case event(Event)
        case gap(EventGap)
    }

    private let limit: Int
    private let byteLimit: Int
    /// Those before `head` were taken.
    private var items: [Item?] = []
    private var head = 0
    /// How many bytes the waiting events came in.
    private var bytes = 0
    /// How many events are missing before the oldest item.
    private var missing = 0
    /// A marker that was given up; it stands before the oldest item now, unless events are missing there anyway.
    private var marker: EventGap?
    /// How many events were given up in all.
    private(set) var droppedCount = 0

    /// How many items wait.
    var count: Int { items.count - head }

    /// - Parameter limit: how many items wait; at least 1. They have 16 KiB each on average, and ``TextLimit/standard`` together in any case.
    init(limit: Int) {
        self.limit = max(limit, 1)
        byteLimit = max(TextLimit.standard, min(self.limit, 1 << 40) * (16 << 10))
    }

    mutating func append(_ item: Item) {
        if case .gap(let gap) = item, case .identityChanged = gap.reason {
            // What waits was meant for the user before.
            (items, head, bytes, missing, marker) = ([], 0, 0, 0, nil)
        }
        let weight = item.weight
        // The newest waits in any case, however large it is.
        while count > 0, count == limit || weight > 0 && bytes + weight > byteLimit { drop() }
        bytes += weight
        items.append(item)
    }

    /// Takes what comes next: the marker of a hole, or the oldest item; nil where nothing waits.
    mutating func next() -> Item? {
        if missing > 0 {
            defer { (missing, marker) = (0, nil) }
            return .gap(EventGap(reason: .overflow(dropped: missing)))
        }
        if let marker {
            self.marker = nil
            return .gap(marker)
        }
        return removeFirst()
    }

    private mutating func drop() {
        switch removeFirst() {
        case .event:
            missing += 1
            droppedCount += 1
        case .gap(let gap): marker = gap
        case nil: break
        }
    }

    private mutating func removeFirst() -> Item? {
        guard head < items.count else { return nil }
        let item = items[head]
        items[head] = nil
        head += 1
        bytes -= item?.weight ?? 0
        if head == items.count {
            items.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 32, head > items.count / 2 {
            items.removeFirst(head)
            head = 0
        }
        return item
    }
}

extension EventBuffer.Item {
    fileprivate var weight: Int { if case .event(let event) = self { event.weight } else { 0 } }
}

/// What waits for a slow reader: at most so many items, of which the oldest are given up, and a marker that stands exactly where they are missing.
struct EventBuffer: Sendable {
    enum Item: Sendable {
        case event(ServiceEvent)
        case gap(EventGap)
    }

    private let limit: Int
    /// Those before `head` were taken.
    private var items: [Item?] = []
    private var head = 0
    /// How many events are missing before the oldest item.
    private var missing = 0
    /// A marker that was given up; it stands before the oldest item now, unless events are missing there anyway.
    private var marker: EventGap?
    /// How many events were given up in all.
    private(set) var droppedCount = 0

    /// How many items wait.
    var count: Int { items.count - head }

    /// - Parameter limit: how many items wait; at least 1.
    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    mutating func append(_ item: Item) {
        if count == limit { drop() }
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

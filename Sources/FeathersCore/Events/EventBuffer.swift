import FeathersSupport

/// An event that can be buffered for its reader.
package protocol BufferedEvent: Sendable {
    associatedtype Name: Equatable, Sendable

    var name: Name { get }
    /// The size of the event on the wire in bytes; 0 for a local event.
    var weight: Int { get }
}

/// The buffer of a slow reader, with a limited number of items and bytes. When it is full, it drops the oldest items and leaves a marker
/// at exactly the position where they are missing.
struct EventBuffer<Event: BufferedEvent>: Sendable {
    typealias Item = EventDelivery<Event>

    private enum Slot: Sendable {
        case item(Item)
        /// Events that arrived together. Adding them one by one held up a reader that was looking for each (measured: a sixth of a burst's CPU).
        case batch(ArraySlice<Event>)
    }

    private let limit: Int
    private let byteLimit: Int
    /// The rest of the batch that is being read, before all slots.
    private var batch: ArraySlice<Event> = []
    /// Slots before `head` have already been read.
    private var slots: [Slot?] = []
    private var head = 0
    /// The size on the wire of the buffered events, in bytes.
    private var bytes = 0
    /// The number of buffered items.
    private(set) var count = 0
    /// The number of dropped events before the oldest item.
    private var missing = 0
    /// A dropped marker. It now applies before the oldest item, unless events are missing there anyway.
    private var marker: EventGap?
    /// The total number of dropped events.
    private(set) var droppedCount = 0

    /// - Parameter limit: the maximum number of items, at least 1. The byte limit is 16 KiB per item, but at least ``TextLimit/standard``.
    init(limit: Int) {
        self.limit = max(limit, 1)
        byteLimit = max(TextLimit.standard, min(self.limit, 1 << 40) * (16 << 10))
    }

    /// - Parameter item: Consumed, because a copy would take 190 of the 11,300 instructions that an event costs.
    mutating func append(_ item: consuming Item) {
        // The pattern below would consume the parameter itself.
        let item = item
        if case .gap(let gap) = item, case .identityChanged = gap.reason {
            // The buffered items were meant for the previous user.
            (batch, slots, head, bytes, count, missing, marker) = ([], [], 0, 0, 0, 0, nil)
        }
        let weight = item.weight
        makeRoom(for: 1, weight)
        bytes += weight
        count += 1
        slots.append(.item(item))
    }

    /// Adds events that arrived together.
    /// - Parameter weight: The size of all of them.
    mutating func append(_ events: ArraySlice<Event>, weight: Int) {
        guard events.count < limit, weight <= byteLimit else {
            for event in events { append(.event(event)) }
            return
        }
        makeRoom(for: events.count, weight)
        bytes += weight
        count += events.count
        slots.append(.batch(events))
    }

    /// Drops the oldest items. The newest one is always kept, however large it is.
    private mutating func makeRoom(for more: Int, _ weight: Int) {
        while count > 0, count + more > limit || weight > 0 && bytes + weight > byteLimit { drop() }
    }

    /// Removes and returns the next element: the marker of a gap or the oldest item; nil if the buffer is empty.
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
        if let event = batch.popFirst() {
            // An empty slice still holds its array, and with it all events.
            if batch.isEmpty { batch = [] }
            bytes -= event.weight
            count -= 1
            return .event(event)
        }
        guard head < slots.count, let slot = slots[head].take() else { return nil }
        head += 1
        if head == slots.count {
            slots.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 32, head > slots.count / 2 {
            slots.removeFirst(head)
            head = 0
        }
        switch slot {
        case .item(let item):
            bytes -= item.weight
            count -= 1
            return item
        case .batch(let events):
            batch = events
            return removeFirst()
        }
    }
}

extension EventDelivery where Element: BufferedEvent {
    fileprivate var weight: Int { if case .event(let event) = self { event.weight } else { 0 } }
}

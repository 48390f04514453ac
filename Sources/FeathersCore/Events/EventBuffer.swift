import FeathersSupport

/// An event that can be buffered for its reader.
package protocol BufferedEvent: Sendable {
    associatedtype Name: Equatable, Sendable

    var name: Name { get }
    /// The size of the event on the wire in bytes; 0 for a local event.
    var weight: Int { get }
    /// The event for several readers, which may share work on it.
    var shared: Self { get }
}

extension BufferedEvent {
    package var shared: Self { self }
}

/// The buffer of a slow reader, with a limited number of items and bytes. When it is full, it drops the oldest items
/// and leaves a marker at exactly the position where they are missing.
struct EventBuffer<Event: BufferedEvent>: Sendable {
    typealias Item = EventDelivery<Event>

    private let limit: Int
    private let byteLimit: Int
    /// Slots before `head` have already been read.
    private var slots: [Item?] = []
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

    /// - Parameter limit: The maximum number of items, at least 1. The byte limit is 16 KiB per item, but at least
    ///   ``TextLimit/standard``.
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
            (slots, head, bytes, count, missing, marker) = ([], 0, 0, 0, 0, nil)
        }
        let weight = item.weight
        // Drops the oldest items. The newest one is always kept, however large it is.
        while count > 0, count == limit || weight > 0 && bytes + weight > byteLimit { drop() }
        bytes += weight
        count += 1
        slots.append(item)
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

    /// Removes the elements that ``next()`` would return, up to a number of them. A marker at the beginning comes alone,
    /// because more events may go missing there before the next one is read.
    /// - Parameter items: Receives the elements. It is empty, and its memory is reused.
    mutating func drain(into items: inout [Item?], atMost limit: Int) {
        if missing > 0 || marker != nil {
            items.append(next())
        } else if head == 0, slots.count <= limit {
            // Nothing is copied if all of the buffer fits.
            swap(&slots, &items)
            (bytes, count) = (0, 0)
        } else {
            while items.count < limit, let item = removeFirst() { items.append(item) }
        }
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
        guard head < slots.count, let item = slots[head].take() else { return nil }
        head += 1
        if head == slots.count {
            slots.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 32, head > slots.count / 2 {
            slots.removeFirst(head)
            head = 0
        }
        bytes -= item.weight
        count -= 1
        return item
    }
}

extension EventDelivery where Element: BufferedEvent {
    fileprivate var weight: Int { if case .event(let event) = self { event.weight } else { 0 } }
}

import FeathersSupport

/// One reader's place at an event hub: its names, its bounded buffer, its count of what it missed.
///
/// The hub holds it while the reader's sequence lives; dropping or cancelling the reader ends it.
final class EventSubscription: Sendable {
    private typealias Waiter = CheckedContinuation<EventBuffer.Item?, Never>

    private struct State {
        var buffer: EventBuffer
        var waiters: [Waiter] = []
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
    }

    private let names: [EventName]?
    private let state: Locked<State>

    init(names: [EventName]?, buffering limit: Int) {
        self.names = names
        state = Locked(State(buffer: EventBuffer(limit: limit)))
    }

    /// How many events did not fit the buffer.
    var droppedCount: Int { state.withLock { $0.buffer.droppedCount } }

    /// How many events and markers wait for the reader.
    var waitingCount: Int { state.withLock { $0.buffer.count } }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = action }
    }

    /// - Returns: how many events were given up for this one.
    func deliver(_ event: ServiceEvent) -> Int {
        if let names, !names.contains(event.name) { return 0 }
        return deliver(.event(event))
    }

    /// - Returns: how many events were given up for the marker.
    func deliver(_ gap: EventGap) -> Int {
        deliver(.gap(gap))
    }

    private func deliver(_ item: EventBuffer.Item) -> Int {
        let (waiter, dropped): (Waiter?, Int) = state.withLock { state in
            guard !state.isEnded else { return (nil, 0) }
            // Who waits has read everything.
            if !state.waiters.isEmpty { return (state.waiters.removeFirst(), 0) }
            let before = state.buffer.droppedCount
            state.buffer.append(item)
            return (nil, state.buffer.droppedCount - before)
        }
        waiter?.resume(returning: item)
        return dropped
    }

    /// What comes next, if it waits already.
    func nextWaiting() -> EventBuffer.Item? {
        if Task.isCancelled { end() }
        return state.withLock { $0.buffer.next() }
    }

    /// What comes next; nil once the subscription has ended and its buffer is read.
    func next() async -> EventBuffer.Item? {
        if let item = nextWaiting() { return item }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let (isNow, item): (Bool, EventBuffer.Item?) = state.withLock { state in
                    if let item = state.buffer.next() { return (true, item) }
                    if !state.isEnded { state.waiters.append(waiter) }
                    return (state.isEnded, nil)
                }
                if isNow { waiter.resume(returning: item) }
            }
        } onCancel: {
            end()
        }
    }

    /// Stops listening; who waits gets nil.
    func end() {
        let (waiters, onEnd) = state.withLock { state in
            defer { (state.isEnded, state.waiters, state.onEnd) = (true, [], nil) }
            return (state.waiters, state.onEnd)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        onEnd?()
    }
}

/// What a reader holds of its subscription. The subscription ends with its last reference.
final class EventReading: Sendable {
    private let subscription: EventSubscription

    init(_ subscription: EventSubscription) {
        self.subscription = subscription
    }

    deinit {
        subscription.end()
    }

    /// The next event or gap, if one waits. Asked before ``next()``, it saves a busy reader two asynchronous calls an event.
    func nextWaiting() -> EventBuffer.Item? { subscription.nextWaiting() }

    /// The next event or gap; nil once the reader's task is cancelled.
    func next() async -> EventBuffer.Item? { await subscription.next() }
}

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
        if case .gap(let gap) = item, case .identityChanged = gap.reason {
            // What waits was meant for the user before.
            (items, head, missing, marker) = ([], 0, 0, nil)
        }
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

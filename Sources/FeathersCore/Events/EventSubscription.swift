import FeathersSupport

/// What ends the wait of a reader.
package enum EventSignal<Event: Sendable>: Sendable {
    case item(EventDelivery<Event>)
    /// The reader was woken with ``EventReading/wake()``.
    case woken
    case ended
}

/// One reader's subscription to an event hub: its event names, its bounded buffer and its count of dropped events.
///
/// The hub holds it while the reader's sequence exists. Dropping or cancelling the reader ends it.
final class EventSubscription<Event: BufferedEvent>: Sendable {
    typealias Item = EventDelivery<Event>
    /// Not checked: a waiter leaves ``State/waiters`` exactly once, to be resumed. The check costs an allocation for
    /// every event that is waited for.
    private typealias Waiter = UnsafeContinuation<EventSignal<Event>, Never>

    private struct State {
        var buffer: EventBuffer<Event>
        /// The number of items delivered so far.
        var deliveredCount = 0
        var waiters: [Waiter] = []
        /// Whether the reader was woken while it did not wait.
        var isWoken = false
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
        var onSecondReader: (@Sendable () -> Void)?

        /// Adds an item to the buffer, unless a reader waits, which has already read everything in the buffer.
        /// - Returns: the waiting reader to resume with the item; nil if there is none.
        mutating func add(_ item: Item) -> Waiter? {
            deliveredCount += 1
            if !waiters.isEmpty { return waiters.removeFirst() }
            buffer.append(item)
            return nil
        }
    }

    private let names: [Event.Name]?
    private let state: Locked<State>

    init(names: [Event.Name]?, bufferingNewest limit: Int) {
        self.names = names
        state = Locked(State(buffer: EventBuffer(limit: limit)))
    }

    /// The number of events and markers in the buffer.
    var waitingCount: Int { state.withLock { $0.buffer.count } }

    /// The number of items delivered so far, and how many of them the reader has taken or missed.
    var positions: (delivered: Int, taken: Int) {
        state.withLock { ($0.deliveredCount, $0.deliveredCount - $0.buffer.count) }
    }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = action }
    }

    /// Sets an action that runs once if a second reader waits at the same time: two readers each miss what the other
    /// receives.
    func onSecondReader(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSecondReader = action }
    }

    /// - Returns: the number of events dropped from this buffer.
    func deliver(_ event: Event) -> Int {
        guard names?.contains(event.name) ?? true else { return 0 }
        return deliver(.event(event))
    }

    /// - Returns: the number of events dropped to make room for the marker.
    func deliver(_ gap: EventGap) -> Int { deliver(.gap(gap)) }

    private func deliver(_ item: Item) -> Int {
        let (waiter, dropped): (Waiter?, Int) = state.withLock { state in
            guard !state.isEnded else { return (nil, 0) }
            let before = state.buffer.droppedCount
            let waiter = state.add(item)
            return (waiter, state.buffer.droppedCount - before)
        }
        waiter?.resume(returning: .item(item))
        return dropped
    }

    /// Returns the next item without waiting; nil if the buffer is empty.
    func nextWaiting() -> Item? { state.withLock { $0.buffer.next() } }

    /// Ends the wait of the reader without an item. If it does not wait, its next wait ends immediately.
    func wake() {
        let waiter: Waiter? = state.withLock { state in
            if !state.waiters.isEmpty { return state.waiters.removeFirst() }
            state.isWoken = true
            return nil
        }
        waiter?.resume(returning: .woken)
    }

    /// Returns the next item; nil once the subscription has ended and its buffer is empty. Call ``nextWaiting()``
    /// first, and ``end(isUnread:)`` if the task is cancelled.
    func next() async -> Item? {
        while true {
            switch await signal() {
            case .item(let item): return item
            case .woken: continue
            case .ended: return nil
            }
        }
    }

    /// Waits for the next item, for ``wake()``, or for the end of the subscription. Call ``nextWaiting()`` first, and
    /// ``end(isUnread:)`` if the task is cancelled.
    func signal() async -> EventSignal<Event> {
        await withUnsafeContinuation { waiter in
            let (now, warn): (EventSignal<Event>?, (@Sendable () -> Void)?) = state.withLock { state in
                if let item = state.buffer.next() { return (.item(item), nil) }
                if state.isEnded { return (.ended, nil) }
                if state.isWoken {
                    state.isWoken = false
                    return (.woken, nil)
                }
                state.waiters.append(waiter)
                guard state.waiters.count > 1 else { return (nil, nil) }
                defer { state.onSecondReader = nil }
                return (nil, state.onSecondReader)
            }
            warn?()
            if let now { waiter.resume(returning: now) }
        }
    }

    /// Ends the subscription. Waiting readers receive nil.
    /// - Parameter isUnread: whether no reader is left, so that the buffer can be released before the hub forgets the
    ///   subscription.
    func end(isUnread: Bool = false) {
        let (waiters, onEnd) = state.withLock { state in
            if isUnread { state.buffer = EventBuffer(limit: 1) }
            defer { (state.isEnded, state.waiters, state.onEnd, state.onSecondReader) = (true, [], nil, nil) }
            return (state.waiters, state.onEnd)
        }
        for waiter in waiters { waiter.resume(returning: .ended) }
        onEnd?()
    }
}

/// A reader's handle to its subscription. The subscription ends with the last reference to the handle.
package final class EventReading<Event: BufferedEvent>: Sendable {
    fileprivate let subscription: EventSubscription<Event>

    init(_ subscription: EventSubscription<Event>) {
        self.subscription = subscription
    }

    deinit {
        subscription.end(isUnread: true)
    }

    func onSecondReader(_ action: @escaping @Sendable () -> Void) { subscription.onSecondReader(action) }

    /// Returns the next buffered event or gap. Calling this before ``next()`` saves a busy reader two asynchronous
    /// calls per event.
    func nextWaiting() -> EventDelivery<Event>? { subscription.nextWaiting() }

    /// Returns the next event or gap; nil after ``end()``. Call ``nextWaiting()`` first.
    func next() async -> EventDelivery<Event>? { await subscription.next() }

    /// Ends the subscription, whose reader's task was cancelled.
    /// - Parameter isUnread: whether what was not read can be released.
    func end(isUnread: Bool = false) { subscription.end(isUnread: isUnread) }
}

extension EventReading where Event == ServiceEvent {
    /// Returns the next buffered event or gap without waiting; nil if there is none.
    package func waitingSignal() -> EventSignal<ServiceEvent>? {
        if Task.isCancelled { end() }
        return nextWaiting().map(EventSignal.item)
    }

    /// Waits for the next event, gap or wake-up, or for the end: the reader's task was cancelled.
    package func signal() async -> EventSignal<ServiceEvent> {
        await withTaskCancellationHandler {
            await subscription.signal()
        } onCancel: {
            end()
        }
    }

    /// The number of events and gaps delivered so far.
    package var deliveredCount: Int { subscription.positions.delivered }

    /// The number of events and gaps up to the last one that the reader has taken.
    package var takenCount: Int { subscription.positions.taken }

    /// Ends the wait of the reader, because local data has changed.
    package func wake() { subscription.wake() }
}

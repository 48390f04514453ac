import FeathersSupport
import Synchronization

/// One reader's subscription to an event hub: its event names, its bounded buffer and its count of dropped events.
///
/// The hub holds it while the reader's sequence exists. Dropping or cancelling the reader ends it.
final class EventSubscription<Event: BufferedEvent>: Sendable {
    typealias Item = EventDelivery<Event>
    /// Not checked: a waiter leaves ``State/waiters`` exactly once, to be resumed. The check costs an allocation for
    /// every event that is waited for.
    private typealias Waiter = UnsafeContinuation<Item?, Never>
    private typealias Wake = (waiter: Waiter, item: Item)

    private struct State {
        var buffer: EventBuffer<Event>
        /// Readers that wait. They have read everything in the buffer, and everything drained from it.
        var waiters: [Waiter] = []
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
        var onSecondReader: (@Sendable () -> Void)?
        var onDelivery: (@Sendable () -> Void)?
    }

    private let names: [Event.Name]?
    private let state: Locked<State>
    private let drained = DrainedEvents<Event>()

    init(names: [Event.Name]?, bufferingNewest limit: Int) {
        self.names = names
        state = Locked(State(buffer: EventBuffer(limit: limit)))
    }

    /// The number of events and markers that have not been read.
    var waitingCount: Int { state.withLock { $0.buffer.count } + drained.count }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = action }
    }

    /// Sets an action that runs once if two readers read at the same time: each misses what the other receives.
    func onSecondReader(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSecondReader = action }
    }

    /// Sets an action that runs after each delivery, for a reader that does not wait here.
    func onDelivery(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onDelivery = action }
    }

    /// Adds events to the buffer in order. Readers that wait are resumed with the first ones.
    /// - Returns: The number of events dropped from the buffer.
    func deliver(_ events: some Sequence<Event>) -> Int {
        deliver { add in for event in events where names?.contains(event.name) ?? true { add(.event(event)) } }
    }

    /// - Returns: The number of events dropped to make room for the marker.
    func deliver(_ gap: EventGap) -> Int {
        deliver { add in
            if case .identityChanged = gap.reason { drained.void() }
            add(.gap(gap))
        }
    }

    @inline(__always)
    private func deliver(_ items: ((Item) -> Void) -> Void) -> Int {
        // Most subscriptions have one reader, so an array is rarely needed.
        var (first, others): (Wake?, [Wake]) = (nil, [])
        var onDelivery: (@Sendable () -> Void)?
        let dropped = state.withLock { state in
            guard !state.isEnded else { return 0 }
            let before = state.buffer.droppedCount
            var isEmpty = true
            items { item in
                isEmpty = false
                if state.waiters.isEmpty {
                    state.buffer.append(item)
                } else if first == nil {
                    first = (state.waiters.removeFirst(), item)
                } else {
                    others.append((state.waiters.removeFirst(), item))
                }
            }
            if !isEmpty { onDelivery = state.onDelivery }
            return state.buffer.droppedCount - before
        }
        if let (waiter, item) = first { waiter.resume(returning: item) }
        for (waiter, item) in others { waiter.resume(returning: item) }
        onDelivery?()
        return dropped
    }

    /// Returns the next of the drained items, without a lock. If there are none, call ``nextWaiting()`` or ``next()``.
    func nextDrained() -> Item? { drained.next() }

    /// Returns the next item without waiting; nil if there is none.
    func nextWaiting() -> Item? { drained.next() ?? state.withLock { take(from: &$0) } }

    /// Drains the buffer for this reader, and returns the first item. A second reader takes the item after those that
    /// the first one has drained.
    private func take(from state: inout State) -> Item? {
        drained.fill { state.buffer.drain(into: &$0, atMost: $1) } ?? state.buffer.next()
    }

    /// Waits for the next item; nil once the subscription has ended and nothing is unread. Call ``end(isUnread:)`` if
    /// the task is cancelled.
    func next() async -> Item? {
        while true {
            if let item = drained.next() { return item }
            // Does not wait while there are drained items, which another reader may be taking.
            if let item = await nextUndrained() { return item }
            if drained.count == 0, state.withLock({ $0.isEnded }) { return nil }
        }
    }

    /// Waits for an item, unless another reader has drained some.
    private func nextUndrained() async -> Item? {
        await withUnsafeContinuation { waiter in
            let (now, warn): (Item??, (@Sendable () -> Void)?) = state.withLock { state in
                if let item = take(from: &state) { return (.some(item), nil) }
                if state.isEnded || drained.count > 0 { return (.some(nil), nil) }
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
    /// - Parameter isUnread: Whether no reader is left, so that the buffer can be released before the hub forgets the
    ///   subscription.
    func end(isUnread: Bool = false) {
        let (waiters, onEnd) = state.withLock { state in
            if isUnread {
                state.buffer = EventBuffer(limit: 1)
                drained.void()
            }
            defer {
                (state.isEnded, state.waiters, state.onEnd) = (true, [], nil)
                (state.onSecondReader, state.onDelivery) = (nil, nil)
            }
            return (state.waiters, state.onEnd)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        onEnd?()
    }
}

/// A reader's handle to its subscription. The subscription ends with the last reference to the handle.
package final class EventReading<Event: BufferedEvent>: Sendable {
    let subscription: EventSubscription<Event>

    init(_ subscription: EventSubscription<Event>) {
        self.subscription = subscription
    }

    deinit {
        subscription.end(isUnread: true)
    }

    func onSecondReader(_ action: @escaping @Sendable () -> Void) { subscription.onSecondReader(action) }

    /// Sets an action that runs after each delivery, for a reader that does not call ``next()``. It must not block.
    package func onDelivery(_ action: @escaping @Sendable () -> Void) { subscription.onDelivery(action) }

    /// The number of events and gaps that have not been read.
    package var waitingCount: Int { subscription.waitingCount }

    /// Returns the next event or gap if the reader has drained it. Calling this before ``next()`` saves a busy reader
    /// two asynchronous calls per event.
    func nextDrained() -> EventDelivery<Event>? { subscription.nextDrained() }

    /// Waits for the next event or gap; nil after ``end()``.
    func next() async -> EventDelivery<Event>? { await subscription.next() }

    /// Ends the subscription after its reader's task was cancelled.
    /// - Parameter isUnread: Whether the unread events can be released.
    func end(isUnread: Bool = false) { subscription.end(isUnread: isUnread) }
}

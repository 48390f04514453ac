import FeathersSupport

/// One reader's subscription to an event hub: its event names, its bounded buffer and its count of dropped events.
///
/// The hub holds it while the reader's sequence exists. Dropping or cancelling the reader ends it.
final class EventSubscription<Event: BufferedEvent>: Sendable {
    typealias Item = EventDelivery<Event>
    /// Not checked: a waiter leaves ``State/waiters`` exactly once, to be resumed. The check costs an allocation for
    /// every event that is waited for.
    private typealias Waiter = UnsafeContinuation<Item?, Never>

    private struct State {
        var buffer: EventBuffer<Event>
        var waiters: [Waiter] = []
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
        var onSecondReader: (@Sendable () -> Void)?
        var onDelivery: (@Sendable () -> Void)?

        /// Adds an item to the buffer, unless a reader waits, which has already read everything in the buffer.
        /// - Returns: The waiting reader to resume with the item; nil if there is none.
        mutating func add(_ item: Item) -> Waiter? {
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

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = action }
    }

    /// Sets an action that runs once if a second reader waits at the same time: two readers each miss what the other
    /// receives.
    func onSecondReader(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSecondReader = action }
    }

    /// Sets an action that runs after each delivery, for a reader that does not wait here.
    func onDelivery(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onDelivery = action }
    }

    /// - Returns: The number of events dropped from this buffer.
    func deliver(_ event: Event) -> Int {
        guard names?.contains(event.name) ?? true else { return 0 }
        return deliver(.event(event))
    }

    /// - Returns: The number of events dropped to make room for the marker.
    func deliver(_ gap: EventGap) -> Int { deliver(.gap(gap)) }

    private func deliver(_ item: Item) -> Int {
        let (waiter, dropped, onDelivery): (Waiter?, Int, (@Sendable () -> Void)?) = state.withLock { state in
            guard !state.isEnded else { return (nil, 0, nil) }
            let before = state.buffer.droppedCount
            let waiter = state.add(item)
            return (waiter, state.buffer.droppedCount - before, state.onDelivery)
        }
        waiter?.resume(returning: item)
        onDelivery?()
        return dropped
    }

    /// Returns the next item without waiting; nil if the buffer is empty.
    func nextWaiting() -> Item? { state.withLock { $0.buffer.next() } }

    /// Waits for the next item; nil once the subscription has ended and its buffer is empty. Call ``nextWaiting()``
    /// first, and ``end(isUnread:)`` if the task is cancelled.
    func next() async -> Item? {
        await withUnsafeContinuation { waiter in
            let (now, warn): (Item??, (@Sendable () -> Void)?) = state.withLock { state in
                if let item = state.buffer.next() { return (.some(item), nil) }
                if state.isEnded { return (.some(nil), nil) }
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
            if isUnread { state.buffer = EventBuffer(limit: 1) }
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
    fileprivate let subscription: EventSubscription<Event>

    init(_ subscription: EventSubscription<Event>) {
        self.subscription = subscription
    }

    deinit {
        subscription.end(isUnread: true)
    }

    func onSecondReader(_ action: @escaping @Sendable () -> Void) { subscription.onSecondReader(action) }

    /// Sets an action that runs after each delivery, for a reader that does not call ``next()``. It must not block.
    package func onDelivery(_ action: @escaping @Sendable () -> Void) { subscription.onDelivery(action) }

    /// The number of buffered events and gaps.
    package var waitingCount: Int { subscription.waitingCount }

    /// Returns the next buffered event or gap. Calling this before ``next()`` saves a busy reader two asynchronous
    /// calls per event.
    package func nextWaiting() -> EventDelivery<Event>? { subscription.nextWaiting() }

    /// Returns the next event or gap; nil after ``end()``. Call ``nextWaiting()`` first.
    func next() async -> EventDelivery<Event>? { await subscription.next() }

    /// Ends the subscription after its reader's task was cancelled.
    /// - Parameter isUnread: Whether the unread events can be released.
    func end(isUnread: Bool = false) { subscription.end(isUnread: isUnread) }
}

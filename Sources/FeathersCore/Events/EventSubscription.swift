import FeathersSupport

/// One reader's subscription to an event hub: its event names, its bounded buffer and its count of dropped events.
///
/// The hub holds it while the reader's sequence exists. Dropping or cancelling the reader ends it.
final class EventSubscription<Event: BufferedEvent>: Sendable {
    typealias Item = EventBuffer<Event>.Item
    private typealias Waiter = CheckedContinuation<Item?, Never>

    private struct State {
        var buffer: EventBuffer<Event>
        var waiters: [Waiter] = []
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
        var onSecondReader: (@Sendable () -> Void)?
    }

    private let names: [Event.Name]?
    private let state: Locked<State>

    init(names: [Event.Name]?, bufferingNewest limit: Int) {
        self.names = names
        state = Locked(State(buffer: EventBuffer(limit: limit)))
    }

    /// The number of dropped events.
    var droppedCount: Int { state.withLock { $0.buffer.droppedCount } }

    /// The number of events and markers in the buffer.
    var waitingCount: Int { state.withLock { $0.buffer.count } }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = action }
    }

    /// Sets an action that runs once if a second reader waits at the same time: two readers each miss what the other receives.
    func onSecondReader(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSecondReader = action }
    }

    /// - Returns: the number of events dropped from this buffer.
    func deliver(_ event: Event) -> Int {
        if let names, !names.contains(event.name) { return 0 }
        return deliver(.event(event))
    }

    /// - Returns: the number of events dropped to make room for the marker.
    func deliver(_ gap: EventGap) -> Int {
        deliver(.gap(gap))
    }

    private func deliver(_ item: Item) -> Int {
        let (waiter, dropped): (Waiter?, Int) = state.withLock { state in
            guard !state.isEnded else { return (nil, 0) }
            // A waiting reader has already read everything in the buffer.
            if !state.waiters.isEmpty { return (state.waiters.removeFirst(), 0) }
            let before = state.buffer.droppedCount
            state.buffer.append(item)
            return (nil, state.buffer.droppedCount - before)
        }
        waiter?.resume(returning: item)
        return dropped
    }

    /// Returns the next item without waiting; nil if the buffer is empty.
    func nextWaiting() -> Item? {
        if Task.isCancelled { end() }
        return state.withLock { $0.buffer.next() }
    }

    /// Returns the next item; nil once the subscription has ended and its buffer is empty.
    func next() async -> Item? {
        if let item = nextWaiting() { return item }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let (isNow, item, warn): (Bool, Item?, (@Sendable () -> Void)?) = state.withLock { state in
                    if let item = state.buffer.next() { return (true, item, nil) }
                    if state.isEnded { return (true, nil, nil) }
                    state.waiters.append(waiter)
                    guard state.waiters.count > 1 else { return (false, nil, nil) }
                    defer { state.onSecondReader = nil }
                    return (false, nil, state.onSecondReader)
                }
                warn?()
                if isNow { waiter.resume(returning: item) }
            }
        } onCancel: {
            end()
        }
    }

    /// Ends the subscription. Waiting readers receive nil.
    func end() {
        let (waiters, onEnd) = state.withLock { state in
            defer { (state.isEnded, state.waiters, state.onEnd, state.onSecondReader) = (true, [], nil, nil) }
            return (state.waiters, state.onEnd)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        onEnd?()
    }
}

/// A reader's handle to its subscription. The subscription ends with the last reference to the handle.
package final class EventReading<Event: BufferedEvent>: Sendable {
    private let subscription: EventSubscription<Event>

    init(_ subscription: EventSubscription<Event>) {
        self.subscription = subscription
    }

    deinit {
        subscription.end()
    }

    func onSecondReader(_ action: @escaping @Sendable () -> Void) { subscription.onSecondReader(action) }

    /// Returns the next buffered event or gap. Calling this before ``next()`` saves a busy reader two asynchronous calls per event.
    func nextWaiting() -> EventBuffer<Event>.Item? { subscription.nextWaiting() }

    /// Returns the next event or gap; nil once the reader's task is cancelled.
    func next() async -> EventBuffer<Event>.Item? { await subscription.next() }
}

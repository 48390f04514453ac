import FeathersSupport

/// One reader's place at an event hub: its names, its bounded buffer, its count of what it missed.
///
/// The hub holds it while the reader's sequence lives; dropping or cancelling the reader ends it.
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

    init(names: [Event.Name]?, buffering limit: Int) {
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

    /// Sets what is done, once, when a second reader waits beside the first: each of them misses what the other one gets.
    func onSecondReader(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onSecondReader = action }
    }

    /// - Returns: how many events were given up for this one.
    func deliver(_ event: Event) -> Int {
        if let names, !names.contains(event.name) { return 0 }
        return deliver(.event(event))
    }

    /// - Returns: how many events were given up for the marker.
    func deliver(_ gap: EventGap) -> Int {
        deliver(.gap(gap))
    }

    private func deliver(_ item: Item) -> Int {
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
    func nextWaiting() -> Item? {
        if Task.isCancelled { end() }
        return state.withLock { $0.buffer.next() }
    }

    /// What comes next; nil once the subscription has ended and its buffer is read.
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

    /// Stops listening; who waits gets nil.
    func end() {
        let (waiters, onEnd) = state.withLock { state in
            defer { (state.isEnded, state.waiters, state.onEnd, state.onSecondReader) = (true, [], nil, nil) }
            return (state.waiters, state.onEnd)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        onEnd?()
    }
}

/// What a reader holds of its subscription. The subscription ends with its last reference.
package final class EventReading<Event: BufferedEvent>: Sendable {
    private let subscription: EventSubscription<Event>

    init(_ subscription: EventSubscription<Event>) {
        self.subscription = subscription
    }

    deinit {
        subscription.end()
    }

    func onSecondReader(_ action: @escaping @Sendable () -> Void) { subscription.onSecondReader(action) }

    /// The next event or gap, if one waits. Asked before ``next()``, it saves a busy reader two asynchronous calls an event.
    func nextWaiting() -> EventBuffer<Event>.Item? { subscription.nextWaiting() }

    /// The next event or gap; nil once the reader's task is cancelled.
    func next() async -> EventBuffer<Event>.Item? { await subscription.next() }
}

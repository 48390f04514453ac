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

    /// What comes next; nil once the subscription has ended and its buffer is read.
    func next(isolation actor: isolated (any Actor)?) async -> EventBuffer.Item? {
        if Task.isCancelled { end() }
        if let item = state.withLock({ $0.buffer.next() }) { return item }
        return await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { waiter in
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

/// What a reader holds of its subscription: it ends with its last mention.
final class EventReading: Sendable {
    let subscription: EventSubscription

    init(_ subscription: EventSubscription) {
        self.subscription = subscription
    }

    deinit {
        subscription.end()
    }
}

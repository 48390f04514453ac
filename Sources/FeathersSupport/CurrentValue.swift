/// A value that changes, and the subscribers to its changes.
///
/// A change is enqueued where the order of changes is determined, even with a lock held. ``deliver()`` then passes it
/// to the subscribers outside of the lock, so that all subscribers see the same order.
package final class CurrentValue<Value: Sendable>: Sendable {
    private struct State {
        var current: Value
        var line: [Value] = []
        var isDelivering = false
    }

    /// The buffer of each subscriber. A slow subscriber loses the oldest entries.
    private static var buffer: Int { 64 }

    private let state: Locked<State>
    private let subscribers = Subscribers<Value>()

    package init(_ value: Value) { state = Locked(State(current: value)) }

    package var current: Value { state.withLock { $0.line.last ?? $0.current } }

    /// Changes the value and notifies the subscribers.
    package func set(_ value: Value) {
        enqueue(value)
        deliver()
    }

    /// Changes the value. The subscribers receive it with the next ``deliver()``.
    package func enqueue(_ value: Value) { state.withLock { $0.line.append(value) } }

    /// Delivers the enqueued values to the subscribers, unless another thread is already delivering.
    package func deliver() {
        var isOurs = false
        while true {
            let next: (value: Value, readers: [AsyncStream<Value>.Continuation])? = state.withLock { state in
                guard isOurs || !state.isDelivering else { return nil }
                isOurs = true
                state.isDelivering = !state.line.isEmpty
                guard !state.line.isEmpty else { return nil }
                state.current = state.line.removeFirst()
                return (state.current, subscribers.readers)
            }
            guard let next else { return }
            for reader in next.readers { reader.yield(next.value) }
        }
    }

    /// Returns the current value, followed by every change.
    package func updates() -> AsyncStream<Value> {
        // Values that are still enqueued follow later.
        state.withLock { state in subscribers.stream(bufferingNewest: Self.buffer, first: state.current) }
    }
}

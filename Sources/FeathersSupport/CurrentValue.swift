/// A value that changes, and everybody who wants to know of its changes.
///
/// A change is put in line wherever the order of changes is decided, also with a lock held, and told to the readers by ``deliver()``
/// outside of it: so they all see the same order.
package final class CurrentValue<Value: Sendable>: Sendable {
    private struct State {
        var current: Value
        var line: [Value] = []
        var isDelivering = false
    }

    /// A reader that reads nothing costs so many entries, then loses the oldest.
    private static var buffer: Int { 64 }

    private let state: Locked<State>
    private let subscribers = Subscribers<Value>()

    package init(_ value: Value) { state = Locked(State(current: value)) }

    package var current: Value { state.withLock { $0.line.last ?? $0.current } }

    /// Changes the value and tells the readers.
    package func set(_ value: Value) {
        enqueue(value)
        deliver()
    }

    /// Changes the value; the readers learn of it with the next ``deliver()``.
    package func enqueue(_ value: Value) { state.withLock { $0.line.append(value) } }

    /// Tells the readers what is in line, unless somebody is about it already.
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

    /// The value as it is, and then every change.
    package func updates() -> AsyncStream<Value> {
        // What is still in line comes after it.
        state.withLock { state in subscribers.stream(buffering: Self.buffer, first: state.current) }
    }
}

/// A value that changes, and everybody who wants to know of its changes.
///
/// A change is put in line wherever the order of changes is decided, also with a lock held, and told to the readers by ``deliver()``
/// outside of it: so they all see the same order.
package final class ReplayedValue<Value: Sendable>: Sendable {
    private struct State {
        var current: Value
        var line: [Value] = []
        var isDelivering = false
        var readers: [Int: AsyncStream<Value>.Continuation] = [:]
        var nextID = 0
    }

    /// A reader that reads nothing costs so many entries, then loses the oldest.
    private static var buffer: Int { 64 }

    private let state: Locked<State>

    package init(_ value: Value) {
        state = Locked(State(current: value))
    }

    package var current: Value { state.withLock { $0.line.last ?? $0.current } }

    /// Changes the value; the readers learn of it with the next ``deliver()``.
    package func enqueue(_ value: Value) {
        state.withLock { $0.line.append(value) }
    }

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
                return (state.current, Array(state.readers.values))
            }
            guard let next else { return }
            for reader in next.readers { reader.yield(next.value) }
        }
    }

    /// The value as it is, and then every change.
    package func updates() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(Self.buffer))
        let id = state.withLock { state in
            state.nextID += 1
            state.readers[state.nextID] = continuation
            // Nobody reads yet, so that nobody is woken inside the lock. What is still in line comes after it.
            continuation.yield(state.current)
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
        }
        return stream
    }
}

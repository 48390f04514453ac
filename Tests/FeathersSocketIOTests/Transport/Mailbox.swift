import FeathersCore
import FeathersNetworking
import FeathersSupport

/// Values that one side puts in and a test takes out in order, waiting where there is none yet.
final class Mailbox<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiters: [(id: Int, takes: Bool, continuation: CheckedContinuation<Value, any Error>)] = []
        var nextID = 0
    }

    private let state = Locked(State())

    func put(_ value: Value) {
        let waiters: [CheckedContinuation<Value, any Error>] = state.withLock { state in
            var told: [CheckedContinuation<Value, any Error>] = []
            while !state.waiters.isEmpty {
                let waiter = state.waiters.removeFirst()
                told.append(waiter.continuation)
                if waiter.takes { return told }
            }
            state.values.append(value)
            return told
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// What is there and was not taken.
    var waiting: [Value] { state.withLock { $0.values } }

    /// Takes the next value.
    func next() async throws -> Value { try await value(takes: true) }

    /// The next value, which stays to be taken.
    @discardableResult
    func peek() async throws -> Value { try await value(takes: false) }

    private func value(takes: Bool) async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let value: Value? = state.withLock { state in
                    if let first = state.values.first {
                        if takes { state.values.removeFirst() }
                        return first
                    }
                    state.waiters.append((id, takes, continuation))
                    return nil
                }
                if let value { continuation.resume(returning: value) }
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let waiter: CheckedContinuation<Value, any Error>? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index).continuation
        }
        waiter?.resume(throwing: CancellationError())
    }
}

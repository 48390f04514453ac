import FeathersCore
import FeathersNetworking
import FeathersSupport

/// Values that one side puts in and a test takes out in order, waiting where there is none yet.
final class Mailbox<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiters: [(id: Int, continuation: CheckedContinuation<Value, any Error>)] = []
        var nextID = 0
    }

    private let state = Locked(State())

    func put(_ value: Value) {
        let waiter: CheckedContinuation<Value, any Error>? = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.values.append(value)
                return nil
            }
            return state.waiters.removeFirst().continuation
        }
        waiter?.resume(returning: value)
    }

    /// What is there and was not taken.
    var waiting: [Value] { state.withLock { $0.values } }

    /// Takes the next value.
    func next() async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let value: Value? = state.withLock { state in
                    if !state.values.isEmpty { return state.values.removeFirst() }
                    state.waiters.append((id, continuation))
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

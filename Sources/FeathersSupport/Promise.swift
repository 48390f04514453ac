/// A value that comes once, for any number of tasks that wait for it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiters: [Int: CheckedContinuation<Result<Value, any Error>, Never>] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    package init() {}

    /// The value; nil while it has not come.
    package var current: Value? { state.withLock { try? $0.result?.get() } }

    /// Whether it has come, as a value or a failure.
    package var isSettled: Bool { state.withLock { $0.result != nil } }

    /// - Returns: whether this settled the promise; false where it was settled before.
    @discardableResult
    package func resolve(_ value: Value) -> Bool { settle(.success(value)) }

    @discardableResult
    package func fail(_ error: any Error) -> Bool { settle(.failure(error)) }

    /// - Throws: what the promise failed with, `CancellationError` when the task is cancelled.
    package func value() async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        // As a value: resumed with an error, a generic continuation may box it once more, and its type is not to be told any more.
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    if state.result == nil { state.waiters[id] = continuation }
                    return state.result
                }
                if let result { return continuation.resume(returning: result) }
                // A cancellation before the registration found nobody to wake.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error
        }
    }

    private func settle(_ result: Result<Value, any Error>) -> Bool {
        let waiters: [CheckedContinuation<Result<Value, any Error>, Never>]? = state.withLock { state in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(returning: result) }
        return true
    }

    private func cancel(_ id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: .failure(CancellationError()))
    }
}

/// A value that is set once. Any number of tasks can wait for it.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiters: [Int: CheckedContinuation<Result<Value, any Error>, Never>] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    @usableFromInline package init() {}

    /// The value; nil until the promise is resolved.
    @usableFromInline package var current: Value? { state.withLock { try? $0.result?.get() } }

    /// Whether the promise is settled, with a value or an error.
    package var isSettled: Bool { state.withLock { $0.result != nil } }

    /// - Returns: whether this call settled the promise; false if it was already settled.
    @discardableResult
    @usableFromInline
    package func resolve(_ value: Value) -> Bool { settle(.success(value)) }

    @discardableResult
    @usableFromInline
    package func fail(_ error: any Error) -> Bool { settle(.failure(error)) }

    /// - Throws: the error that the promise failed with, `CancellationError` if the task is cancelled.
    @usableFromInline
    package func value() async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        // Passed as a value: resumed with an error, a generic continuation may box it again, and its type is then no longer recognizable.
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    if state.result == nil { state.waiters[id] = continuation }
                    return state.result
                }
                if let result { return continuation.resume(returning: result) }
                // A cancellation before the registration found no continuation to resume.
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

/// A value that is set once. Any number of tasks can wait for it.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        /// Waits and their continuations, which have one type for every `Value`, so that the runtime need not look up
        /// their metadata.
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastID = 0
    }

    private let state = Locked(State())

    @usableFromInline package init() {}

    /// The value; nil until the promise is resolved.
    @usableFromInline package var current: Value? { state.withLock { try? $0.result?.get() } }

    /// Whether the promise is settled, with a value or an error.
    package var isSettled: Bool { state.withLock { $0.result != nil } }

    /// - Returns: Whether this call settled the promise; false if it was already settled.
    @discardableResult
    @usableFromInline
    package func resolve(_ value: Value) -> Bool { settle(.success(value)) }

    @discardableResult
    @usableFromInline
    package func fail(_ error: any Error) -> Bool { settle(.failure(error)) }

    /// - Throws: The error that the promise failed with, `CancellationError` if the task is cancelled.
    @usableFromInline
    package func value() async throws -> Value {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    // A cancellation before the registration found no continuation to resume.
                    guard state.result == nil, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
        guard let result = state.withLock({ $0.result }) else { throw CancellationError() }
        return try result.get()
    }

    private func settle(_ result: Result<Value, any Error>) -> Bool {
        let waiters: [Int: CheckedContinuation<Void, Never>]? = state.withLock { state in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        guard let waiters else { return false }
        for waiter in waiters.values { waiter.resume() }
        return true
    }
}

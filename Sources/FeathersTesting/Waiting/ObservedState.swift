import FeathersSupport

/// State that tasks can wait for. Each task waits until its own condition is met or it is cancelled.
final class ObservedState<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Contents: Sendable {
        var state: State
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
    }

    private let contents: Locked<Contents>

    init(_ state: State) { contents = Locked(Contents(state: state)) }

    var current: State { contents.withLock { $0.state } }

    /// Changes the state, then resumes the tasks whose conditions it now meets, outside the lock.
    @discardableResult
    func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, satisfied) = contents.withLock { contents in
            let result = change(&contents.state)
            let satisfied = contents.waiters.filter { $0.value.condition(contents.state) }
            for id in satisfied.keys { contents.waiters[id] = nil }
            return (result, satisfied.map(\.value.continuation))
        }
        for continuation in satisfied { continuation.resume() }
        return result
    }

    /// Suspends until the condition is met.
    /// - Throws: `CancellationError` if the task is cancelled.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async throws {
        let id = contents.withLock { contents in
            contents.nextID += 1
            return contents.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let holds = contents.withLock { contents in
                    guard !condition(contents.state) else { return true }
                    contents.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if holds { return continuation.resume() }
                // A cancellation before the registration had no continuation to resume.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let waiter = contents.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}

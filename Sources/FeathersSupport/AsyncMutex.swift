/// A mutex for code that suspends. Tasks acquire it in the order of their arrival.
///
/// Waiting ignores cancellation, because operations must complete: for example, a token must be removed even if the
/// caller is cancelled. Use it only to protect bounded operations, such as reading and writing a storage.
package final class AsyncMutex: Sendable {
    private struct State {
        var isLocked = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    package init() {}

    package func withLock<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isLocked { state.waiters.append(continuation) }
                defer { state.isLocked = true }
                return !state.isLocked
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = state.withLock { state in
                state.isLocked = !state.waiters.isEmpty
                return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
            }
            next?.resume()
        }
        return try await body()
    }
}

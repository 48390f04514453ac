/// Lets one task at a time through code that suspends, in the order of their arrival.
///
/// Waiting ignores cancellation, because what was decided must be done: a token that is to be removed must not stay behind because its caller left.
/// Use it only where what is protected is bounded, as reading and writing a storage is.
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

import FeathersCore
import FeathersSupport

/// Lets one task after the other through a piece of code that waits.
///
/// Waiting here can not be cancelled, since what is decided must be written: a token that was removed must not stay behind because
/// nobody waited. It is bounded by the storage, which is all that is ever waited for.
final class AsyncMutex: Sendable {
    private struct State {
        var isTaken = false
        var line: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func pass<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.line.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = state.withLock { state in
                state.isTaken = !state.line.isEmpty
                return state.line.isEmpty ? nil : state.line.removeFirst()
            }
            next?.resume()
        }
        return try await body()
    }
}

import FeathersCore
import FeathersSupport

/// How long a user's first rows wait for their related records. Dropping it cancels the wait.
final class RelatedWait: Sendable {
    private let task: Task<Void, Never>
    private let state: Locked<Bool>

    private init(_ task: Task<Void, Never>, _ state: Locked<Bool>) { (self.task, self.state) = (task, state) }

    /// - Parameter wake: Receives an element when the wait is over.
    static func begin(
        _ delay: Duration, of clock: RelativeClock, _ wake: AsyncStream<Void>.Continuation
    ) -> RelatedWait {
        let state = Locked(false)
        let task = Task {
            do { try await clock.sleep(for: delay) } catch { return }
            state.withLock { $0 = true }
            wake.yield()
        }
        return RelatedWait(task, state)
    }

    deinit { task.cancel() }

    var isOver: Bool { state.withLock { $0 } }
}

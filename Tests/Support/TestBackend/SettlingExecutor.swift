import Dispatch
import Synchronization

/// Runs tasks, one step after the other, and says when all of them wait.
///
/// A call that waits for a connection does nothing that a test could wait for: it sends no frame and changes no status.
/// But its task has no step left to run until something outside resumes it, and the executor knows that. Child tasks
/// run here too, unstructured ones that they make do not.
public final class SettlingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "feathers.tests.settling")
    /// How many steps have been handed over and have not ended.
    private let steps = Atomic<Int>(0)

    public init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Counted at once: what resumes a task and then waits for it to settle must not find that it has.
        steps.add(1, ordering: .acquiringAndReleasing)
        queue.async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.steps.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    /// Starts a task and returns once it waits or has ended.
    public func start<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) async -> Task<Success, any Error> {
        let task = Task(executorPreference: self) { try await operation() }
        await settle()
        return task
    }

    /// Suspends until every task waits or has ended.
    public func settle() async {
        await withCheckedContinuation { resume($0) }
    }

    /// Resumes behind the steps in the queue, and behind those that they lead to.
    private func resume(_ continuation: CheckedContinuation<Void, Never>) {
        queue.async {
            guard self.steps.load(ordering: .acquiring) == 0 else { return self.resume(continuation) }
            continuation.resume()
        }
    }
}

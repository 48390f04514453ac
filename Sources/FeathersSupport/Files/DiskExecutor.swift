import Dispatch

/// Runs an actor on a queue of its own.
///
/// Waiting for a disk can take seconds. On the cooperative pool it would hold up one of the few threads that all tasks share.
package final class DiskExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

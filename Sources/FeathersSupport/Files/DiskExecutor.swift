import Dispatch

/// An executor that runs an actor on its own queue.
///
/// Waiting for a disk can take seconds. On the cooperative pool, it would block one of the few threads that all tasks
/// share.
package final class DiskExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let work = { @Sendable in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        if let simulated = Surroundings.simulated { simulated.runOnDisk(work) } else { queue.async(execute: work) }
    }
}

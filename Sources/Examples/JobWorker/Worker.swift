import Feathers
import Foundation
import Synchronization

/// Processes jobs from a queue that it shares with other workers, one at a time.
///
/// Each job is done at least once: if its worker is killed, or loses the server for longer than the lease, another
/// worker does it again, so make the work repeatable. A job that cannot be read or processed fails, with the reason.
/// It stops neither the worker nor the other jobs.
final class Worker: Sendable {
    /// The name of this process in the jobs that it claims. Containers often have the same host name and process
    /// identifier, so a random part makes the name unique.
    let name: String
    let jobs: Service<JSONValue>
    let lease: Duration
    private let queue: String
    private let work: @Sendable (Job) async throws -> Void
    let report: @Sendable (String) -> Void
    private let stopping = Atomic<Bool>(false)
    /// The reasons to look for jobs: one in the buffer stands for any number of them.
    private let wakeups = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - name: A name for people who look at the jobs.
    ///   - jobs: The service that stores the jobs.
    ///   - queue: The name of the queue.
    ///   - lease: The time after which other workers take up the job of a worker that was killed. A worker renews its
    ///     lease three times in that time. The clocks of the workers' machines must differ by less than a third of it.
    ///   - report: Receives a sentence about each job that has failed, or that is left to others.
    ///   - work: Processes a job. If it throws, the job has failed. It is cancelled if another worker has the job.
    init(
        _ name: String, jobs: Service<Job>, queue: String, lease: Duration = .seconds(30),
        report: @escaping @Sendable (String) -> Void = { _ in }, work: @escaping @Sendable (Job) async throws -> Void
    ) {
        self.name = "\(name)-\(UUID().uuidString)"
        (self.jobs, self.queue, self.lease, self.report, self.work) = (jobs.json, queue, lease, report, work)
    }

    /// Works until ``stop()`` is called. A job that has begun is finished first.
    /// - Throws: The error if jobs cannot be fetched.
    func run() async throws {
        // Subscribed before the first look, so that no job is missed in between.
        let deliveries = jobs.eventDeliveries([.created, .updated, .patched], bufferingNewest: 100)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await delivery in deliveries where Self.maybeAboutOpenJob(delivery) {
                    self.wakeups.continuation.yield()
                }
            }
            // No event reports the end of a lease.
            group.addTask {
                while true {
                    self.wakeups.continuation.yield()
                    try await Task.sleep(for: self.lease)
                }
            }
            defer { group.cancelAll() }
            // Jobs that the server refuses to give to this worker.
            var refused: Set<ServiceID> = []
            for await _ in wakeups.stream where !isStopping {
                do {
                    try await answered(attemptsAfterStop: 0) { try await self.lookForJobs(&refused) }
                } catch let error as FeathersError where error.execution != .answered && isStopping {
                    // Stopped without a connection. No work has begun.
                }
            }
            try Task.checkCancellation()
        }
    }

    /// Stops the worker from beginning another job.
    func stop() {
        stopping.store(true, ordering: .releasing)
        wakeups.continuation.finish()
    }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    private static func maybeAboutOpenJob(_ delivery: EventDelivery<ServiceEvent>) -> Bool {
        switch delivery {
        case .event(let event): event.data["state"]?.string == Job.State.open.rawValue
        case .gap: true
        }
    }

    /// Processes all jobs without a worker. The pages continue after the last job, so that those which this worker
    /// cannot have don't hide the others. The jobs are JSON, so that a record that isn't a job doesn't either.
    private func lookForJobs(_ refused: inout Set<ServiceID>) async throws {
        let states = [Job.State.open, .claimed].map { JSONValue.string($0.rawValue) }
        let unfinished = Query<JSONValue>.where("queue", queue).where("state", .isIn(states)).sorted(by: "id")
        for try await page in jobs.pages(unfinished, of: 20, keyedBy: "id") {
            for record in page.data where isFree(record) {
                guard !isStopping else { return }
                guard let id = record["id"].flatMap({ ServiceID($0) }), !refused.contains(id) else { continue }
                do {
                    if try await claim(id, asSeen: record) { try await process(record, id) }
                } catch let error as FeathersError where error.execution == .answered {
                    refused.insert(id)
                    report("Job \(id) is left to others: \(error)")
                }
            }
        }
    }

    private func process(_ record: JSONValue, _ id: ServiceID) async throws {
        let outcome = await withTaskGroup(of: [String: String]?.self) { group in
            group.addTask {
                try? await self.renewLease(of: id)
                return nil
            }
            group.addTask {
                do {
                    try await self.work(try record.decode(Job.self))
                    return ["state": Job.State.done.rawValue]
                } catch {
                    return ["state": Job.State.failed.rawValue, "reason": "\(error)"]
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        // Work that was cancelled has not failed: another worker does it when the lease has ended.
        try Task.checkCancellation()
        guard let outcome else { return report("Job \(id) has been taken over by another worker") }
        if let reason = outcome["reason"] { report("Job \(id) has failed: \(reason)") }
        try await finish(id, outcome)
    }
}

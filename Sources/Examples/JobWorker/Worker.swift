import Feathers
import Synchronization

/// Processes jobs from a queue that it shares with other workers, one at a time.
///
/// A job that cannot be read or processed fails, with the reason. It stops neither the worker nor the other jobs.
final class Worker: Sendable {
    private let name: String
    private let jobs: Service<JSONValue>
    private let queue: String
    private let work: @Sendable (Job) async throws -> Void
    private let report: @Sendable (String) -> Void
    private let isStopping = Atomic<Bool>(false)
    /// The latest known open jobs, as JSON, so that a record that isn't a job does not hide the others. Older states
    /// are irrelevant.
    private let open = AsyncStream.makeStream(of: [JSONValue].self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - name: The name that distinguishes this worker from others.
    ///   - jobs: The service that stores the jobs.
    ///   - queue: The name of the queue.
    ///   - report: Receives a sentence about each job that has failed, or that is left to others.
    ///   - work: Processes a job. If it throws, the job has failed.
    init(
        _ name: String, jobs: Service<Job>, queue: String, report: @escaping @Sendable (String) -> Void = { _ in },
        work: @escaping @Sendable (Job) async throws -> Void
    ) {
        (self.name, self.jobs, self.queue, self.report, self.work) = (name, jobs.json, queue, report, work)
    }

    /// Works until ``stop()`` is called. A job that has begun is finished first.
    /// - Throws: The error if jobs cannot be fetched.
    func run() async throws {
        let query = Query.where("queue", queue).where("state", Job.State.open).sorted(by: "id").limit(20)
        let live = jobs.live(query)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { self.open.continuation.finish() }
                for try await jobs in live { self.open.continuation.yield(jobs) }
            }
            // Jobs that the server refuses to give to this worker.
            var refused: Set<ServiceID> = []
            for await jobs in open.stream {
                for record in jobs where !isStopping.load(ordering: .acquiring) {
                    guard let id = record["id"].flatMap({ ServiceID($0) }), !refused.contains(id) else { continue }
                    do {
                        try await process(record, id)
                    } catch let error as FeathersError where error.execution == .answered {
                        refused.insert(id)
                        report("Job \(id) is left to others: \(error)")
                    }
                }
            }
            if isStopping.load(ordering: .acquiring) { group.cancelAll() } else { try await group.waitForAll() }
        }
    }

    /// Stops the worker from beginning another job.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        open.continuation.finish()
    }

    private func process(_ record: JSONValue, _ id: ServiceID) async throws {
        guard try await claim(id) else { return }
        var outcome = ["state": Job.State.done.rawValue]
        do {
            try await work(try record.decode(Job.self))
        } catch {
            report("Job \(id) has failed: \(error)")
            outcome = ["state": Job.State.failed.rawValue, "reason": "\(error)"]
        }
        try await finish(id, outcome)
    }

    /// Claims a job. The server changes it only if it is still open, so only one worker gets it.
    /// - Returns: Whether this worker has the job; false if another worker was first.
    private func claim(_ id: ServiceID) async throws -> Bool {
        let claim = ["state": Job.State.claimed.rawValue, "worker": name]
        do {
            return try await answered(attemptsAfterStop: 0) {
                do {
                    try await self.jobs.patch(id, with: claim, query: .where("state", Job.State.open))
                    return true
                } catch FeathersError.Code.notFound {
                    // An earlier attempt whose response was lost may have claimed the job.
                    let job = try await self.jobs.get(id)
                    return job["state"]?.string == Job.State.claimed.rawValue && job["worker"]?.string == self.name
                }
            }
        } catch FeathersError.Code.notFound {
            return false
        } catch let error as FeathersError where error.execution != .answered {
            // Stopped without a connection. No work has begun.
            return false
        }
    }

    private func finish(_ id: ServiceID, _ outcome: [String: String]) async throws {
        // Reporting an outcome again has no further effect.
        _ = try await answered(attemptsAfterStop: 5) { try await self.jobs.patch(id, with: outcome) }
    }

    /// Makes a call until the server responds. Over Socket.IO, each attempt waits for the connection.
    /// - Parameter attemptsAfterStop: How often to try again once the worker is stopped.
    private func answered<Result>(
        attemptsAfterStop: Int, _ call: () async throws -> Result
    ) async throws -> Result {
        var (pause, left) = (Duration.milliseconds(100), attemptsAfterStop)
        while true {
            do {
                return try await call()
            } catch let error as FeathersError where error.execution != .answered {
                if isStopping.load(ordering: .acquiring) {
                    guard left > 0 else { throw error }
                    left -= 1
                }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(5))
            }
        }
    }
}

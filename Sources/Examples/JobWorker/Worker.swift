import Feathers
import Synchronization

/// Processes jobs from a queue that it shares with other workers, one at a time.
final class Worker: Sendable {
    private let name: String
    private let jobs: Service<Job>
    private let queue: String
    private let work: @Sendable (Job) async throws -> Void
    private let isStopping = Atomic<Bool>(false)
    /// The latest known open jobs. Older states are irrelevant.
    private let open = AsyncStream.makeStream(of: [Job].self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - name: The name that distinguishes this worker from others.
    ///   - jobs: The service that stores the jobs.
    ///   - queue: The name of the queue.
    ///   - work: Processes a job. If it throws, the job has failed.
    init(_ name: String, jobs: Service<Job>, queue: String, work: @escaping @Sendable (Job) async throws -> Void) {
        (self.name, self.jobs, self.queue, self.work) = (name, jobs, queue, work)
    }

    /// Works until ``stop()`` is called. A job that has begun is finished first.
    /// - Throws: The error if jobs cannot be fetched, or if an outcome cannot be reported.
    func run() async throws {
        let query = Query<Job>.where(.queue, queue).where(.state, Job.State.open).sorted(by: .id).limit(20)
        // A job that isn't one, for example without a text, is set aside with a warning. The others are worked off.
        var params = Params()
        params.skipsUndecodableRecords = true
        let live = jobs.live(query, params: params)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { self.open.continuation.finish() }
                for try await jobs in live { self.open.continuation.yield(jobs) }
            }
            for await jobs in open.stream {
                for job in jobs where !isStopping.load(ordering: .acquiring) {
                    if let claimed = try await claim(job) { try await finish(claimed) }
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

    /// Claims a job. The server changes it only if it is still open, so only one worker gets it.
    /// - Returns: The claimed job; nil if another worker was first.
    private func claim(_ job: Job) async throws -> Job? {
        guard let id = job.id else { return nil }
        do {
            let claim = ["state": Job.State.claimed.rawValue, "worker": name]
            return try await jobs.patch(id, with: claim, query: .where("state", Job.State.open))
        } catch FeathersError.Code.notFound {
            return nil
        } catch let error as FeathersError where error.execution == .mayHaveExecuted {
            // The connection was lost before the response arrived, so only the server knows which worker has the job.
            let job = try await jobs.get(id)
            return job.state == .claimed && job.worker == name ? job : nil
        }
    }

    private func finish(_ job: Job) async throws {
        guard let id = job.id else { return }
        var state = Job.State.done
        do { try await work(job) } catch { state = .failed }
        for attempt in 1... {
            do {
                try await jobs.patch(id, with: ["state": state.rawValue])
                return
            } catch let error as FeathersError where error.execution != .answered && attempt < 5 {
                // Reporting the outcome again has no further effect.
                continue
            }
        }
    }
}

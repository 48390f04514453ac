import Feathers
import Synchronization

/// Takes jobs from a queue that others take from too, one after the other.
final class Worker: Sendable {
    private let name: String
    private let jobs: TypedService<Job>
    private let queue: String
    private let work: @Sendable (Job) async throws -> Void
    private let isStopping = Atomic<Bool>(false)
    /// The open jobs as they were last known; what has been passed over meanwhile is of no interest.
    private let open = AsyncStream.makeStream(of: [Job].self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - name: tells this worker from others.
    ///   - work: does a job; where it throws the job has failed.
    init(_ name: String, jobs: TypedService<Job>, queue: String, work: @escaping @Sendable (Job) async throws -> Void) {
        (self.name, self.jobs, self.queue, self.work) = (name, jobs, queue, work)
    }

    /// Works until ``stop()``; a job that has begun is brought to its end.
    /// - Throws: what makes it impossible to know of jobs, or to say what became of one.
    func run() async throws {
        let query = TypedQuery<Job>.where(.queue, queue).where(.state, Job.State.open).sorted(by: .id).limit(20)
        let live = jobs.live(query)
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

    /// Begins no job any more.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        open.continuation.finish()
    }

    /// Claims a job: the server changes it only if it is still open, so that one worker gets it.
    /// - Returns: nil where another one was first.
    private func claim(_ job: Job) async throws -> Job? {
        guard let id = job.id else { return nil }
        do {
            let claim = ["state": Job.State.claimed.rawValue, "worker": name]
            return try await jobs.patch(id, with: claim, query: .where("state", Job.State.open))
        } catch FeathersError.Code.notFound {
            return nil
        } catch let error as FeathersError where error.execution == .mayHaveExecuted {
            // The connection was lost before the answer came: whose it is, the server knows.
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
                // To say it twice changes nothing.
                continue
            }
        }
    }
}

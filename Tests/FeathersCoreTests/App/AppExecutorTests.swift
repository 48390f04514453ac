import Dispatch
import FeathersCore
import FeathersSupport
import Synchronization
import Testing

@Suite("An app's network executor")
struct AppExecutorTests {
    /// An executor that counts what it is asked for.
    private final class CountingExecutor: NetworkExecutor {
        private let queue = DispatchQueue(label: "feathers.tests.counting")
        private let jobCount = Atomic(0)
        private let preferenceCount = Atomic(0)

        var jobs: Int { jobCount.load(ordering: .sequentiallyConsistent) }
        /// How often a task began to prefer this executor.
        var preferences: Int { preferenceCount.load(ordering: .sequentiallyConsistent) }

        func enqueue(_ job: consuming ExecutorJob) {
            jobCount.add(1, ordering: .sequentiallyConsistent)
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: UnownedTaskExecutor(ordinary: self)) }
        }

        func asUnownedTaskExecutor() -> UnownedTaskExecutor {
            preferenceCount.add(1, ordering: .sequentiallyConsistent)
            return UnownedTaskExecutor(ordinary: self)
        }

        func report(to observer: any LongJobObserver) {}
        func readAtOnce(_ isOn: Bool) {}
    }

    /// Answers at once, or when it is told to.
    private struct AnsweringTransport: Transport, NetworkThreadUser {
        let executor: CountingExecutor

        func send(_ request: ServiceRequest) async throws -> ServiceResponse {
            if request.method == .create {
                await withUnsafeContinuation { waiter in DispatchQueue.global().async { waiter.resume() } }
            }
            return ServiceResponse(request.id?.json ?? .null)
        }

        func joinNetworkThread() -> (any NetworkExecutor)? { executor }
    }

    @Test("is preferred once, not by each call, and runs at most one job for each call")
    func preference() async throws {
        let executor = CountingExecutor()
        let app = FeathersApp(transport: AnsweringTransport(executor: executor))
        let service = app.service("messages")
        let pass: Hook = { _ in }
        await service.use(hooks: Hooks(around: [{ context, next in try await next(&context) }], before: [pass], after: [pass]))
        try await withFeathersApp(app, on: .networkThread) { _ in
            // The first calls of an app do what later ones need not do again.
            _ = try await service.get(0)
            _ = try await service.create(["text": "Hello"])
            let jobs = executor.jobs
            for id in 0..<100 { _ = try await service.get(id) }
            #expect(executor.jobs == jobs)
            for _ in 0..<100 { _ = try await service.create(["text": "Hello"]) }
            // None for those whose answer arrives before they wait.
            #expect(executor.jobs <= jobs + 100)
        }
        #expect(executor.preferences == 1)
    }
}

import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Synchronization
import TestBackend
import Testing

@testable import JobWorker

@Suite("The example that works off a queue", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct JobWorkerTests {
    private static let backend = TestBackend(variables: [:])

    /// Runs a body with the jobs as somebody else sees them, and a proxy for those who work.
    private func withQueue(
        _ count: Int, _ body: (Service<Job>, _ queue: String, FaultProxy) async throws -> Void
    ) async throws {
        let url = try await Self.backend.url()
        let proxy = try await FaultProxy(to: url)
        let queue = UUID().uuidString
        try await withFeathersApp(FeathersApp(transport: .socketIO(url))) { app in
            let jobs = app.service("todos", of: Job.self)
            try await jobs.create(contentsOf: (1...count).map { Job(queue: queue, text: "\($0)") })
            try await body(jobs, queue, proxy)
        }
        try await proxy.close()
    }

    private func app(_ proxy: FaultProxy) -> FeathersApp {
        FeathersApp(
            transport: .socketIO(proxy.url) {
                $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(100))
            })
    }

    @Test("Three workers do every job once, also when their connections are cut")
    func queue() async throws {
        try await withQueue(30) { jobs, queue, proxy in
            let done = Mutex<[String: Int]>([:])
            let work: @Sendable (Job) async throws -> Void = { job in
                let count = done.withLock { done in
                    done[job.text, default: 0] += 1
                    return done.count
                }
                if count % 10 == 0 { try await proxy.cut() }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let workers = (1...3).map { number in
                    let app = app(proxy)
                    let worker = Worker(
                        "worker \(number)", jobs: app.service("todos", of: Job.self), queue: queue, work: work)
                    group.addTask {
                        try await withFeathersApp(app) { app in
                            try await worker.run()
                            await app.shutDown(within: .seconds(5))
                        }
                    }
                    return worker
                }
                for try await finished in jobs.live(.where(.queue, queue).where(.state, Job.State.done))
                where finished.count == 30 {
                    break
                }
                for worker in workers { worker.stop() }
                try await group.waitForAll()
            }
            #expect(done.withLock { $0.count } == 30)
            #expect(done.withLock { $0.values.allSatisfy { $0 == 1 } })
        }
    }

    @Test("Two workers do 1,000 jobs, and take up those of workers that are killed")
    func kills() async throws {
        try await withQueue(1_000) { jobs, queue, proxy in
            let deadly: Set<String> = ["100", "400", "700", "1000"]
            let begun = Mutex<[String: Int]>([:])
            let finished = Promise<Void>()
            let workers = Mutex<[Worker]>([])
            let employ: @Sendable () async throws -> Void = {
                // Each worker's life is a task whose end is a kill: after it, the worker makes no call.
                var isKilled = true
                while isKilled {
                    let (app, kill) = (self.app(proxy), Promise<Void>())
                    let worker = Worker(
                        "same host", jobs: app.service("todos", of: Job.self), queue: queue, lease: .seconds(5)
                    ) { job in
                        let (isFirst, all) = begun.withLock { begun in
                            begun[job.text, default: 0] += 1
                            return (begun[job.text] == 1, begun.count == 1_000)
                        }
                        if isFirst, deadly.contains(job.text) {
                            kill.resolve(())
                            try await Promise<Void>().value()
                        }
                        if all, begun.withLock({ begun in deadly.allSatisfy { begun[$0] == 2 } }) {
                            finished.resolve(())
                        }
                    }
                    workers.withLock { $0.append(worker) }
                    isKilled = try await withThrowingTaskGroup(of: Bool.self) { group in
                        group.addTask {
                            try await withFeathersApp(app) { _ in try await worker.run() }
                            return false
                        }
                        group.addTask {
                            try await kill.value()
                            return true
                        }
                        defer { group.cancelAll() }
                        return try await group.next() ?? false
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...2 { group.addTask { try await employ() } }
                try await finished.value()
                for worker in workers.withLock({ $0 }) { worker.stop() }
                try await group.waitForAll()
            }
            #expect(Set(workers.withLock { $0.map(\.name) }).count == 6)
            let twice = begun.withLock { $0.filter { $0.value > 1 } }
            #expect(twice.count == 4 && Set(twice.keys) == deadly)
            let last = try await jobs.count(.where(.queue, queue).where(.state, .notEquals(Job.State.done)))
            #expect(last == 0)
        }
    }

    @Test("Jobs that the server refuses to give to a worker don't hide the others")
    func refused() async throws {
        try await withQueue(60) { jobs, queue, proxy in
            let app = app(proxy)
            let worker = Promise<Worker>()
            // The server's rule: nobody claims the first 50 jobs.
            app.use(
                hooks: Hooks(before: [
                    { context in
                        guard context.method == .patch, let id = context.id else { return }
                        let number = try await jobs.json.get(id)["text"]?.string.flatMap { Int($0) }
                        if let number, number <= 50 { throw FeathersError(.forbidden, "Not for you") }
                    }
                ]))
            let done = Mutex<[String]>([])
            let made = Worker("worker", jobs: app.service("todos", of: Job.self), queue: queue) { job in
                let isLast = done.withLock { done in
                    done.append(job.text)
                    return done.count == 10
                }
                if isLast { try await worker.value().stop() }
            }
            worker.resolve(made)
            try await withFeathersApp(app) { _ in try await made.run() }
            #expect(done.withLock { $0 } == (51...60).map { "\($0)" })
        }
    }

    @Test("A worker that is stopped finishes the job it has begun and leaves the others open")
    func stops() async throws {
        try await withQueue(5) { jobs, queue, proxy in
            let (begun, mayEnd) = (Promise<Void>(), Promise<Void>())
            let app = app(proxy)
            let worker = Worker("worker", jobs: app.service("todos", of: Job.self), queue: queue) { _ in
                begun.resolve(())
                try await mayEnd.value()
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await withFeathersApp(app) { app in
                        try await worker.run()
                        #expect(await app.shutDown(within: .seconds(5)) == 0)
                    }
                }
                try await begun.value()
                worker.stop()
                mayEnd.resolve(())
                try await group.waitForAll()
            }
            let states = try await jobs.find(.where(.queue, queue)).map(\.state)
            #expect(states.filter { $0 == .done }.count == 1 && states.filter { $0 == .open }.count == 4)
        }
    }

    @Test("A job that cannot be done has failed")
    func fails() async throws {
        try await withQueue(1) { jobs, queue, proxy in
            let app = app(proxy)
            let worker = Promise<Worker>()
            let made = Worker("worker", jobs: app.service("todos", of: Job.self), queue: queue) { _ in
                try await worker.value().stop()
                throw FeathersError(.generalError, "broken")
            }
            worker.resolve(made)
            try await withFeathersApp(app) { _ in try await made.run() }
            #expect(try await jobs.find(.where(.queue, queue)).map(\.state) == [.failed])
        }
    }

    @Test("A job that cannot be read is set aside, and the others are done")
    func malformed() async throws {
        try await withQueue(2) { jobs, queue, proxy in
            let record: JSONObject = ["queue": .string(queue), "state": "open", "text": 7]
            let malformed = try await jobs.json.create(.object(record)).id
            let app = app(proxy)
            let worker = Promise<Worker>()
            let seen = Mutex(0)
            let see: @Sendable () async throws -> Void = {
                let isLast = seen.withLock { seen in
                    seen += 1
                    return seen == 3
                }
                if isLast { try await worker.value().stop() }
            }
            let reports = Mutex<[String]>([])
            let made = Worker(
                "worker", jobs: app.service("todos", of: Job.self), queue: queue,
                report: { report in
                    reports.withLock { $0.append(report) }
                    Task { try await see() }
                },
                work: { _ in try await see() })
            worker.resolve(made)
            try await withFeathersApp(app) { _ in try await made.run() }
            #expect(try await jobs.count(.where(.queue, queue).where(.state, Job.State.done)) == 2)
            #expect(reports.withLock { $0.count } == 1)
            let aside = try await jobs.json.get(malformed)
            #expect(aside["state"] == "failed" && aside["reason"]?.string?.contains("text") == true)
        }
    }
}

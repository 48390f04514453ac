import Feathers
import FeathersTesting
import Foundation
import Synchronization
import TestBackend
import Testing

@Suite("An app on the network thread", .inTurn, .timeLimit(.minutes(10)))
struct NetworkThreadTests {
    @Test("exists only where a transport has one", arguments: [Subject.memory, .stub, .realTimeStub])
    func none(subject: Subject) async throws {
        let app = try await subject.app()
        #expect(app.networkExecutor == nil)
        // The body runs on the thread pool instead.
        try await withFeathersApp(app, on: .networkThread) { app in _ = try await app.service("messages").find() }
    }

    #if os(Linux)
        @Test(
            "runs its body there, although the caller is on the main actor, which it returns to",
            .enabled(if: !TestBackend.isSkipped), arguments: [AppExecutor.networkThread, .moderatedNetworkThread])
        @MainActor
        func body(place: AppExecutor) async throws {
            let (app, text) = (try await app(), JSONValue.string("\(place)"))
            let (before, after) = try await withFeathersApp(app, on: place) { app in
                let before = threadName()
                let messages = app.service("messages")
                let events = messages.events(.created)
                async let created = messages.create(["text": text])
                var event: JSONValue?
                for await next in events where next["text"] == text {
                    event = next
                    break
                }
                let result = try await created
                #expect(result == event)
                return (before, threadName())
            }
            #expect(before == "feathers-socket" && after == "feathers-socket")
            MainActor.assertIsolated()
            #expect(threadName() != "feathers-socket")
        }

        @Test(
            "runs its body on the thread pool if told so, even if its caller is on the network thread", .enabled(if: !TestBackend.isSkipped)
        )
        func threadPool() async throws {
            let app = try await app()
            let name = try await withFeathersApp(app, on: .networkThread) { app in
                try await withFeathersApp(app, on: .threadPool) { _ in threadName() }
            }
            #expect(name != "feathers-socket")
        }

        /// A service that streams the name of the thread it runs on.
        private struct ThreadNames: ServiceProtocol {
            func respond(to request: ServiceRequest) async throws -> ServiceResponse {
                let first = threadName()
                await Task.yield()
                let second = threadName()
                return ServiceResponse(
                    stream: AsyncThrowingStream { continuation in
                        for name in [first, second] { continuation.yield(name) }
                        continuation.finish()
                    })
            }
        }

        @Test("makes streamed calls there too, from the first step to the last", .enabled(if: !TestBackend.isSkipped))
        func stream() async throws {
            let app = try await app()
            let names = try await app.use(ThreadNames(), at: "names")
            let hooked = Mutex<[String]>([])
            let note: Hook = { _ in hooked.withLock { $0.append(threadName()) } }
            await names.use(hooks: Hooks(before: [note], after: [note]))
            try await withFeathersApp(app, on: .networkThread) { app in
                var read: [String] = []
                for try await name in app.service("names").stream(.find, as: String.self) { read += [name, threadName()] }
                #expect(read == Array(repeating: "feathers-socket", count: 4))
            }
            #expect(hooked.withLock { $0 } == ["feathers-socket", "feathers-socket"])
        }

        @Test("answers a hundred calls at once, cancelled ones too", .enabled(if: !TestBackend.isSkipped))
        func calls() async throws {
            try await withFeathersApp(try await app(), on: .networkThread) { app in
                let slow = app.service("slow")
                let cancelled = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            do { _ = try await slow.get(600_000) } catch { return error is CancellationError }
                            return false
                        }
                    }
                    _ = try? await app.service("echo").get(1)
                    group.cancelAll()
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(cancelled == 10)
                let numbers = try await withThrowingTaskGroup(of: Int64?.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            try await app.service("echo").create(["number": .integer(Int64(number))])["data"]?["number"]?.integer
                        }
                    }
                    return try await group.reduce(into: Set<Int64>()) { if let number = $1 { $0.insert(number) } }
                }
                #expect(numbers.count == 100)
            }
        }

        @Test("warns of a task that holds it up", .enabled(if: !TestBackend.isSkipped))
        func warning() async throws {
            let app = try await app()
            let lines = Mutex<[String]>([])
            app.use(diagnostics: .text { line in lines.withLock { $0.append(line) } }, levels: DiagnosticLevels(.warning))
            try await withFeathersApp(app, on: .networkThread) { app in
                _ = try await app.service("messages").find()
                // What blocks is what is tested. It is reported before the thread goes on.
                usleep(300_000)
                await Task.yield()
                _ = try await app.service("messages").find()
            }
            #expect(lines.withLock { $0.contains { $0.contains("held up the network thread") } })
        }

        private func app() async throws -> FeathersApp {
            FeathersApp(transport: .socketIO(try await TestBackend.url()) { $0.transports = [.webSocket] })
        }
    #endif
}

#if os(Linux)
    private func threadName() -> String {
        let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
        return name.trimmingCharacters(in: .whitespacesAndNewlines)
    }
#endif

import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

// Signals belong to the whole process: SIGINT alone is sent here, while a stream listens for it.
@Suite("Signals of the process", .serialized)
struct ProcessSignalTests {
    @Test("A stream tells of each signal, beside another one")
    func received() async {
        let first = ProcessSignal.received([.interrupt])
        let second = ProcessSignal.received()
        kill(getpid(), SIGINT)
        #expect(await first.first { _ in true } == .interrupt)
        #expect(await second.first { _ in true } == .interrupt)
    }

    @Test(
        "An app runs until a signal, then ends in order: a call in flight finishes unless another signal ends the app",
        .timeLimit(.minutes(10)))
    func run() async throws {
        let clock = ManualClock()
        let app = FeathersApp(
            transport: StubTransport { _ in
                try await clock.sleep(for: .seconds(1))
                return "finished"
            })
        let started = Promise<Void>()
        app.use(backgroundWork: { _ in started.resolve(()) })
        async let running: Void = app.run(until: [.interrupt])
        try await started.value()
        async let answer = app.service("slow").rawFind()
        try await clock.waitForSleepers(1)
        kill(getpid(), SIGINT)
        for await health in app.healthUpdates() where health.state == .shuttingDown { break }
        // The default action is back.
        #expect(signal(SIGINT, SIG_DFL) == nil)
        await #expect { try await app.service("slow").rawFind() } throws: { FeathersError.Code.unavailable ~= $0 }
        clock.advance(by: .seconds(1))
        #expect(try await answer == "finished")
        try await running
    }

    @Test(
        "A second signal ends the process, even if it arrives before the first one is handled", .timeLimit(.minutes(10))
    )
    func second() async {
        // Which of the two the process ends by depends on the order of their delivery. It doesn't fail otherwise.
        await #expect(processExitsWith: .failure) {
            let app = FeathersApp(
                transport: StubTransport { _ in
                    try await Promise<Void>().value()
                    return .null
                })
            let started = Promise<Void>()
            app.use(backgroundWork: { _ in started.resolve(()) })
            async let running: Void = app.run(until: [.interrupt, .terminate], shutDownWithin: .seconds(30))
            try? await started.value()
            async let _ = app.service("slow").rawFind()
            kill(getpid(), SIGINT)
            kill(getpid(), SIGTERM)
            try? await running
        }
    }

    @Test("A failure of the app ends the waiting for signals")
    func failure() async {
        let app = FeathersApp()
        app.use(setUp: [{ _, _ in throw FeathersError(.unavailable, "no") }])
        await #expect(throws: FeathersError.self) { try await app.run(until: [.interrupt]) }
    }
}

import Testing

@testable import FeathersSupport

@Suite("The timer that promises share", .timeLimit(.minutes(5)))
struct SharedTimerTests {
    @Test("settles each promise at its deadline, in any order, and none before")
    func deadlines() async throws {
        let (timer, start) = (SharedTimer(), ContinuousClock.now)
        let delays = [40, 10, 30, 0, 20, 10].map { Duration.milliseconds($0) }
        let promises = delays.map { _ in Promise<Void>() }
        for (delay, promise) in zip(delays, promises) { _ = timer.settle(promise, at: start + delay) }
        for (delay, promise) in zip(delays, promises) {
            try await promise.value()
            #expect(ContinuousClock.now >= start + delay)
        }
        // Idle by now, it begins again.
        let last = Promise<Void>()
        _ = timer.settle(last, at: .now)
        try await last.value()
    }

    @Test("leaves out what was cancelled, and goes on to the next deadline")
    func cancelled() async throws {
        let (timer, start) = (SharedTimer(), ContinuousClock.now)
        let (first, second) = (Promise<Void>(), Promise<Void>())
        let entry = timer.settle(first, at: start + .milliseconds(10))
        _ = timer.settle(second, at: start + .milliseconds(20))
        entry.cancel()
        entry.cancel()
        try await second.value()
        #expect(!first.isSettled)
    }
}

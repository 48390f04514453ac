import FeathersSupport
import FeathersTesting
import Testing

@Suite("A clock that settles a promise", .timeLimit(.minutes(10)))
struct RelativeClockTests {
    @Test("does so at the moment, on the machine's clock and on any other")
    func moment() async throws {
        let promise = Promise<Void>()
        let clock = RelativeClock(ContinuousClock())
        let moment = clock.now + .milliseconds(20)
        await clock.settle(promise, at: moment)
        #expect(promise.isSettled && clock.now >= moment)

        let (manual, other) = (ManualClock(), Promise<Void>())
        let relative = RelativeClock(manual)
        async let settled: Void = relative.settle(other, at: .seconds(5))
        try await manual.waitForSleepers(1)
        manual.advance(by: .seconds(5))
        await settled
        #expect(other.isSettled)
    }

    @Test("settles a promise without a task, if the clock has timers")
    func scheduled() async throws {
        let promise = Promise<Void>()
        #expect(RelativeClock(ManualClock()).schedule(promise, at: .zero) == nil)
        #expect(!promise.isSettled)
        let clock = RelativeClock(ContinuousClock())
        #if os(Linux)
            #expect(clock.schedule(promise, at: clock.now) != nil)
            try await promise.value()
        #else
            #expect(clock.schedule(promise, at: clock.now) == nil)
        #endif
    }

    @Test(
        "returns when the promise is settled or the task is cancelled, however far away the moment is",
        arguments: [true, false])
    func early(isCanceled: Bool) async {
        let promise = Promise<Void>()
        let clock = RelativeClock(ContinuousClock())
        let waiting = Task { await clock.settle(promise, at: .seconds(Int64.max)) }
        if isCanceled { waiting.cancel() } else { promise.resolve(()) }
        await waiting.value
        #expect(promise.isSettled != isCanceled)
    }
}

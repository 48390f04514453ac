import Testing

@testable import FeathersCore

@Suite("When a call is tried again")
struct RetryScheduleTests {
    private static func pauses(_ schedule: RetrySchedule, retryAfter: Duration? = nil, chance: Double = 1) -> [Duration]
    {
        var schedule = schedule
        var pauses: [Duration] = []
        while let pause = schedule.failed(retryAfter: retryAfter, elapsed: pauses.reduce(.zero, +), chance: chance) {
            pauses.append(pause)
        }
        return pauses
    }

    @Test(
        "Pauses double up to the longest, and chance takes half of them at most",
        arguments: [(1, [1, 2, 4, 5, 5]), (0, [0.5, 1, 2, 2.5, 2.5])] as [(Double, [Double])])
    func doubling(chance: Double, seconds: [Double]) {
        let schedule = RetrySchedule(attempts: 6, pause: .seconds(1), longestPause: .seconds(5), timeout: nil)
        #expect(Self.pauses(schedule, chance: chance) == seconds.map { .seconds($0) })
    }

    @Test("Nobody comes earlier than the server asked for", arguments: [0.0, 0.3, 1])
    func retryAfter(chance: Double) {
        let schedule = RetrySchedule(attempts: 3, pause: .seconds(1), longestPause: .seconds(30), timeout: nil)
        let pauses = Self.pauses(schedule, retryAfter: .seconds(7), chance: chance)
        #expect(pauses.count == 2)
        #expect(pauses.allSatisfy { $0 >= .seconds(7) && $0 <= .seconds(8) })
    }

    @Test(
        "A pause that outlasts the call, or the longest pause, is not begun",
        arguments: [
            (timeout: 10.0, retryAfter: 10.0, tries: 0), (10, 9, 1), (10, 4, 2), (100, 31, 0), (nil, 31, 0),
            (nil, 30, 2), (0.6, nil, 0),
            (2, nil, 1),
        ] as [(timeout: Double?, retryAfter: Double?, tries: Int)])
    func bounds(timeout: Double?, retryAfter: Double?, tries: Int) {
        let schedule = RetrySchedule(
            attempts: 3, pause: .seconds(1), longestPause: .seconds(30), timeout: timeout.map { .seconds($0) })
        #expect(Self.pauses(schedule, retryAfter: retryAfter.map { .seconds($0) }, chance: 0.5).count == tries)
    }

    @Test("One attempt is one attempt")
    func once() {
        let schedule = RetrySchedule(attempts: 1, pause: .seconds(1), longestPause: .seconds(5), timeout: nil)
        #expect(Self.pauses(schedule).isEmpty)
    }
}

import FeathersSupport

@testable import FeathersTesting

/// A clock whose sleeps end at once and are noted.
final class NotedClock: Clock {
    private let time = ManualClock()
    private let noted = Locked<[Duration]>([])

    private let readings = ObservedState(0)

    var now: ManualClock.Instant {
        readings.update { $0 += 1 }
        return time.now
    }

    /// How often the time was read.
    var count: Int { readings.current }

    func waitForReadings(_ count: Int) async throws { try await readings.wait { $0 >= count } }

    var minimumResolution: Duration { .zero }
    var sleeps: [Duration] { noted.withLock { $0 } }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        let duration = time.now.duration(to: deadline)
        noted.withLock { $0.append(duration) }
        time.advance(by: duration)
    }

    func advance(by duration: Duration) { time.advance(by: duration) }
}

/// A clock that advances only on request, so that tests of time-dependent code take no real time.
///
/// ```swift
/// let clock = ManualClock()
/// async let call = service.get(1)          // sleeps on the clock
/// try await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(10))
/// ```
public final class ManualClock: Clock {
    /// A point in the clock's time.
    public struct Instant: InstantProtocol {
        /// The time since the clock's start.
        public var offset: Duration

        /// Returns the instant that is a duration later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration from this instant to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var deadlines: [Int: Instant] = [:]
        var lastSleeper = 0
    }

    private let state = ObservedState(State())

    /// Creates a clock at its start.
    public init() {}

    /// The time to which the clock has been advanced.
    public var now: Instant { state.current.now }
    /// The minimum resolution, which is zero because the clock is exact.
    public var minimumResolution: Duration { .zero }

    /// Suspends until the clock has been advanced to `deadline`.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = state.update { state in
            state.lastSleeper += 1
            if state.now < deadline { state.deadlines[state.lastSleeper] = deadline }
            return state.lastSleeper
        }
        defer { state.update { $0.deadlines[sleeper] = nil } }
        try await state.wait { $0.deadlines[sleeper] == nil }
    }

    /// Suspends until at least this many tasks sleep on the clock.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitForSleepers(_ count: Int) async throws { try await state.wait { $0.deadlines.count >= count } }

    /// Advances the clock and wakes the tasks whose deadlines have passed.
    public func advance(by duration: Duration) {
        state.update { state in
            let now = state.now.advanced(by: duration)
            state.now = now
            state.deadlines = state.deadlines.filter { $0.value > now }
        }
    }
}

/// A clock that stands still until it is told to advance, so that tests of time need no time.
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
        /// The time since the clock was made.
        public var offset: Duration

        /// The instant a duration later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// How long after this one another instant is.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var deadlines: [Int: Instant] = [:]
        var lastSleeper = 0
    }

    private let state = ObservedState(State())

    /// A clock at its beginning.
    public init() {}

    /// The time it has been advanced to.
    public var now: Instant { state.current.now }
    /// No time at all: it is as exact as it is told.
    public var minimumResolution: Duration { .zero }

    /// Suspends until the clock has been advanced to `deadline`.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = state.update { state in
            state.lastSleeper += 1
            if state.now < deadline { state.deadlines[state.lastSleeper] = deadline }
            return state.lastSleeper
        }
        defer { state.update { $0.deadlines[sleeper] = nil } }
        try await state.wait { $0.deadlines[sleeper] == nil }
    }

    /// Suspends until at least so many tasks sleep on the clock.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForSleepers(_ count: Int) async throws { try await state.wait { $0.deadlines.count >= count } }

    /// Moves the clock on and wakes whoever slept until then.
    public func advance(by duration: Duration) {
        state.update { state in
            let now = state.now.advanced(by: duration)
            state.now = now
            state.deadlines = state.deadlines.filter { $0.value > now }
        }
    }
}

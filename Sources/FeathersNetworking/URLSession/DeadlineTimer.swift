import Dispatch

/// A single timer for all exchanges of a client. A timer per exchange would cost more than the rest of the client.
///
/// Unchecked: the dispatch source is configured before other code can see it, and `schedule` and `cancel` can be called
/// from any thread (libdispatch objects are thread-safe). Dispatch's overlay for Linux merely lacks the annotation.
struct DeadlineTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(_ fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .distantFuture)
        source.setEventHandler(handler: fire)
        // Activated immediately: releasing a source that was never activated crashes the process.
        source.activate()
    }

    /// Schedules the timer, replacing the previous deadline.
    func schedule(at deadline: ContinuousClock.Instant) {
        source.schedule(deadline: .now() + ContinuousClock.now.duration(to: deadline).clamped.seconds)
    }

    func cancel() { source.cancel() }
}

extension Duration {
    /// The duration clamped to what timers accept: not negative, and at most a week.
    var clamped: Duration { min(max(self, .zero), .seconds(7 * 24 * 3600)) }

    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

import Dispatch

/// One timer for all exchanges of a client: one for each exchange would cost more than the rest of the client.
///
/// Unchecked: a dispatch source is configured here before other code can see it, and `schedule` and `cancel` may be called from any thread
/// (libdispatch objects are thread-safe). Dispatch's overlay for Linux merely lacks the annotation.
struct DeadlineTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(_ fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .distantFuture)
        source.setEventHandler(handler: fire)
        // At once: releasing a source that was never activated ends the process.
        source.activate()
    }

    /// Fires at this moment, and no longer at the one set before.
    func schedule(at deadline: ContinuousClock.Instant) {
        source.schedule(deadline: .now() + ContinuousClock.now.duration(to: deadline).clamped.seconds)
    }

    func cancel() { source.cancel() }
}

extension Duration {
    /// Within what timers can be set to: nothing negative, at most a week.
    var clamped: Duration { min(max(self, .zero), .seconds(7 * 24 * 3600)) }

    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

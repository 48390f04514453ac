import Dispatch

/// A timer that fires once unless cancelled.
///
/// Unchecked: a dispatch source is configured here before anyone else sees it, and `cancel` may be called from any thread (libdispatch
/// objects are thread-safe). Dispatch's overlay for Linux merely lacks the annotation.
struct ExchangeTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(after interval: Duration, _ fire: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .now() + interval.dispatchInterval)
        source.setEventHandler(handler: fire)
        // At once: releasing a source that was never activated ends the process.
        source.activate()
    }

    func cancel() {
        source.cancel()
    }
}

import FeathersSupport

extension Hooks {
    /// Repeats calls that failed because the server was not available or busy, when repeating them is safe.
    ///
    /// Safe are `find`, `get` and endpoints that only read after any ``FeathersError/Code/unavailable`` or
    /// ``FeathersError/Code/tooManyRequests``, and every other call that was *never sent*. The pause is what the server asks for
    /// (``FeathersError/retryAfter``) and a little more; else it doubles each time and is drawn at random from its upper half, so that clients
    /// do not come back in step. A call with `params.timeout` has that time for all its tries: where a pause would outlast it, or the server asks
    /// for more than the longest pause, the call fails at once with the server's error.
    /// - Parameters:
    ///   - attempts: how often a call is tried in all, at least once.
    ///   - pause: the first pause at its longest.
    ///   - longestPause: the longest pause.
    ///   - refusedWrites: whether every call is repeated that the server *answered* with 429, or with 503 and a time to come back. Such an answer is meant to
    ///     say that nothing was executed; whether your server keeps to that is for you to know.
    public static func retrying(
        attempts: Int = 3, pause: Duration = .milliseconds(200), longestPause: Duration = .seconds(30), refusedWrites: Bool = false
    ) -> Hooks {
        retrying(attempts: attempts, pause: pause, longestPause: longestPause, refusedWrites: refusedWrites, clock: ContinuousClock())
    }

    package static func retrying(
        attempts: Int = 3, pause: Duration = .milliseconds(200), longestPause: Duration = .seconds(30), refusedWrites: Bool = false,
        clock: any Clock<Duration>
    ) -> Hooks {
        let timebase = RelativeClock(clock)
        return Hooks(around: [
            { context, next in
                let start = timebase.now
                var schedule = RetrySchedule(
                    attempts: attempts, pause: pause, longestPause: longestPause, timeout: context.params.timeout)
                let app = context.app
                _ = await app.resolvedIdentity()
                var sender = app.currentSender
                // Each attempt starts from the call as it was: the hooks inside have not run yet.
                var attempt = context
                while true {
                    do {
                        try await next(&attempt)
                        context = attempt
                        return
                    } catch let error as FeathersError where error.permitsRepeating(context.request, refusedWrites: refusedWrites) {
                        let pause = schedule.failed(
                            retryAfter: error.retryAfter, elapsed: timebase.now - start, chance: Double.random(in: 0...1))
                        // The first attempt may have signed the app in. What one user asked for is not asked for again as another.
                        if sender.identity == nil { sender = app.currentSender }
                        guard let pause, sender.isCurrent else { throw error }
                        Diagnostics.current.retrying(context.method, context.path, after: error, pause: pause)
                        try await timebase.sleep(for: pause)
                        guard sender.isCurrent else { throw error }
                        attempt = context
                        if let left = schedule.timeLeft(after: timebase.now - start) {
                            guard left > .zero else { throw error }
                            attempt.params.timeout = left
                        }
                    }
                }
            }
        ])
    }
}

extension FeathersError {
    /// Whether a call that failed like this may be repeated without being executed twice to any effect.
    fileprivate func permitsRepeating(_ request: ServiceRequest, refusedWrites: Bool) -> Bool {
        guard code == .unavailable || code == .tooManyRequests else { return false }
        if execution == .neverSent || request.isSafeToRepeat { return true }
        return refusedWrites && execution == .answered && (code == .tooManyRequests || retryAfter != nil)
    }
}

/// When a call is tried again: how often, after what pause, in what time. Without input or output.
struct RetrySchedule: Sendable {
    /// How often the call may still be tried again.
    private var remaining: Int
    /// The next pause at its longest, where the server does not say one.
    private var pause: Duration
    private let longestPause: Duration
    /// How long the call may take in all; nil for as long as it takes.
    private let timeout: Duration?

    init(attempts: Int, pause: Duration, longestPause: Duration, timeout: Duration?) {
        (remaining, self.longestPause, self.timeout) = (attempts - 1, longestPause, timeout)
        self.pause = min(pause, longestPause)
    }

    /// The pause before the next try; nil where there is none.
    /// - Parameters:
    ///   - retryAfter: how long the server asks to wait.
    ///   - elapsed: how long the call has taken so far.
    ///   - chance: from 0 to 1, so that clients do not come back in step.
    mutating func failed(retryAfter: Duration?, elapsed: Duration, chance: Double) -> Duration? {
        guard remaining > 0 else { return nil }
        // Nobody comes earlier than the server asked for, nor waits for longer than is worth it.
        if let retryAfter, retryAfter > longestPause { return nil }
        let drawn = retryAfter.map { $0 + pause * (chance / 2) } ?? pause * (0.5 + chance / 2)
        if let timeout, elapsed + drawn >= timeout { return nil }
        remaining -= 1
        pause = min(pause * 2, longestPause)
        return drawn
    }

    /// What is left of the call's time.
    func timeLeft(after elapsed: Duration) -> Duration? { timeout.map { $0 - elapsed } }
}

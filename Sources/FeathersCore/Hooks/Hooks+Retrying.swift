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
    ///   - clock: what the pauses are measured on.
    public static func retrying(
        attempts: Int = 3, pause: Duration = .milliseconds(200), longestPause: Duration = .seconds(30), refusedWrites: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        let timebase = RelativeClock(clock)
        return Hooks(around: [
            { context, next in
                let start = timebase.now
                var schedule = RetrySchedule(
                    attempts: attempts, pause: pause, longestPause: longestPause, timeout: context.params.timeout)
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
                        guard let pause else { throw error }
                        Diagnostics.current.retrying(context.method, context.path, after: error, pause: pause)
                        try await timebase.sleep(for: pause)
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

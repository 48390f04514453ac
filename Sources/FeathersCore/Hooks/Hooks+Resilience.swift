extension Hooks {
    /// Repeats calls that failed because the server was not available, when repeating them is safe.
    ///
    /// Safe are `find`, `get` and endpoints that only read after any ``FeathersError/Code/unavailable``, and every other call that was *never sent*. The pause between
    /// attempts doubles each time and is drawn at random from its upper half, so that clients do not come back in step.
    /// - Parameters:
    ///   - attempts: how often a call is tried in all, at least once.
    ///   - pause: the first pause at its longest.
    ///   - clock: what the pauses are measured on.
    public static func retrying(
        attempts: Int = 3, pause: Duration = .milliseconds(200), clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        Hooks(around: [
            { context, next in
                var pause = pause
                var remaining = attempts
                while true {
                    remaining -= 1
                    // Each attempt starts from the call as it was: the hooks inside have not run yet.
                    var attempt = context
                    do {
                        try await next(&attempt)
                        context = attempt
                        return
                    } catch let error as FeathersError where remaining > 0 && error.permitsRepeating(context) {
                        let drawn = pause * Double.random(in: 0.5...1)
                        Diagnostics.current.retrying(context.method, context.path, after: error, pause: drawn)
                        try await clock.sleep(for: drawn)
                        pause = pause * 2
                    }
                }
            }
        ])
    }

    /// Gives calls up that take too long.
    ///
    /// The deadline covers everything inside it: the hooks of its level and of the levels within, and the method. The call is cancelled
    /// and awaited, so one that ignores cancellation is still waited for.
    /// - Parameters:
    ///   - duration: how long a call may take.
    ///   - scope: the methods it is meant for.
    ///   - clock: what the time is measured on.
    public static func timeout(
        _ duration: Duration, for scope: HookScope = .all, clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        var hooks = Hooks()
        hooks.deadlines[scope] = [Deadline(duration: duration, clock: clock)]
        return hooks
    }
}

extension FeathersError {
    /// Whether a call that failed like this may be repeated without being executed twice to any effect.
    fileprivate func permitsRepeating(_ context: HookContext) -> Bool {
        guard code == .unavailable else { return false }
        return execution == .neverSent || context.method == .find || context.method == .get || context.params.isSafeToRepeat
    }
}

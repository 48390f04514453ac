extension Hooks {
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

public import FeathersCore

extension Hooks {
    /// Lets so many calls be made at once; the others wait for their turn, in order.
    ///
    /// ```swift
    /// app.addHooks(.limiting(to: 6))
    /// await reports.addHooks(.limiting(to: 1, waiting: 10))
    /// ```
    ///
    /// On an app it counts the calls of all services and endpoints, on a service its own. What waits is the request itself, whose hooks have run: so nobody
    /// holds a turn who waits for something else, a sign-in for instance. Waiting can be cancelled and counts into the call's time. What a local
    /// service calls in its turn needs none of its own.
    ///
    /// A call that finds the queue full fails with ``FeathersError/Code/tooManyRequests``, one whose time ends while it waits with
    /// ``FeathersError/Code/timeout``; both were never sent, so that `retrying` may repeat the former.
    /// - Parameters:
    ///   - limit: how many calls go at once, at least one.
    ///   - capacity: how many may wait.
    ///   - longestWait: how long a call waits that has no timeout in its params; nil for as long as it takes.
    ///   - scope: the methods it is meant for.
    ///   - clock: what waiting is measured on.
    public static func limiting(
        to limit: Int, waiting capacity: Int = 1000, longestWait: Duration? = .seconds(60), for scope: HookScope = .all,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        limiting(to: limit, waiting: capacity, longestWait: longestWait, for: scope, clock: clock) { _ in }
    }

    /// - Parameter onWaiting: hears how many calls wait, whenever one more does.
    package static func limiting(
        to limit: Int, waiting capacity: Int = 1000, longestWait: Duration? = .seconds(60), for scope: HookScope = .all,
        clock: any Clock<Duration> = ContinuousClock(), onWaiting: @escaping @Sendable (Int) -> Void
    ) -> Hooks {
        var hooks = Hooks()
        hooks.stages[scope] = [
            CallLimiter(limit: limit, capacity: capacity, longestWait: longestWait, clock: clock, onWaiting: onWaiting)
        ]
        return hooks
    }
}

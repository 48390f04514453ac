import FeathersCore
import FeathersSupport

@testable import FeathersTraffic

/// The hooks that let calls wait for each other, with a function that is told how many wait, each time one more does.
extension Hooks {
    static func limiting(
        to limit: Int, longestWait: Duration? = nil, clock: any Clock<Duration> = ContinuousClock(),
        onWaiting: @escaping @Sendable (Int) -> Void
    ) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[.all] = [
            CallLimiter(limit: limit, capacity: 1000, longestWait: longestWait, clock: clock, onWaiting: onWaiting)
        ]
        return hooks
    }

    static func coalescingReads(onWaiting: @escaping @Sendable (Int) -> Void) -> Hooks {
        var hooks = Hooks()
        let sharing = ReadSharing(requests: SingleFlight(onWaiting: onWaiting))
        (hooks.middleware[.find], hooks.middleware[.get]) = ([sharing], [sharing])
        return hooks
    }
}

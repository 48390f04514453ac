import FeathersCore
import FeathersSupport

@testable import FeathersTraffic

/// Traffic hooks with a function that is told how many calls wait, each time one more does.
extension Hooks {
    static func limiting(to limit: Int, onWaiting: @escaping @Sendable (Int) -> Void) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[.all] = [
            CallLimiter(limit: limit, capacity: 1000, longestWait: .seconds(60), clock: ContinuousClock(), onWaiting: onWaiting)
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

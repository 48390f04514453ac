import FeathersCore
import FeathersSupport

@testable import FeathersTraffic

/// A limit with a function that is told how many calls wait, each time one more does.
extension Hooks {
    static func limiting(to limit: Int, onWaiting: @escaping @Sendable (Int) -> Void) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[.all] = [
            CallLimiter(limit: limit, capacity: 1000, longestWait: nil, clock: ContinuousClock(), onWaiting: onWaiting)
        ]
        return hooks
    }
}

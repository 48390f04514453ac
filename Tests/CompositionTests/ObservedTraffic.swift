import FeathersCore
import FeathersSupport

@testable import FeathersTraffic

/// Traffic hooks with a function that is told how many calls wait, each time one more does.
extension Hooks {
    static func limiting(to limit: Int, onWaiting: @escaping @Sendable (Int) -> Void) -> Hooks {
        var hooks = Hooks()
        hooks.middleware[.all] = [
            CallLimiter(limit: limit, capacity: 1000, longestWait: nil, clock: ContinuousClock(), onWaiting: onWaiting)
        ]
        return hooks
    }

    /// Batches of these services' reads, whose window a test's clock measures.
    static func batching(services: [String], limit: Int = 50, clock: any Clock<Duration>) -> Hooks {
        var hooks = Hooks()
        let batcher = CallBatcher(path: "batch", services: services, limit: limit, window: .milliseconds(10), clock: clock)
        (hooks.middleware[.find], hooks.middleware[.get]) = ([batcher], [batcher])
        return hooks
    }

    static func coalescingReads(onWaiting: @escaping @Sendable (Int) -> Void) -> Hooks {
        var hooks = Hooks()
        let sharing = ReadSharing(requests: SingleFlight(onWaiting: onWaiting))
        (hooks.middleware[.find], hooks.middleware[.get]) = ([sharing], [sharing])
        return hooks
    }
}

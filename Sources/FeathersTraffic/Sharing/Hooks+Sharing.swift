public import FeathersCore
import FeathersSupport

extension Hooks {
    /// Lets identical reads that are under way at the same time share one request.
    ///
    /// Identical are `find` and `get` of the same service with the same id, query, header fields, route and timeout, asked for by the same user: all
    /// as it is after the hooks, which run for every caller, before and after. A caller that is cancelled takes nothing from the others; where it
    /// was the one that made the request, the next one makes it anew, and with the last caller the request ends. A failure is everybody's.
    ///
    /// An answer is given to those who asked before it came, and to nobody later: nothing is kept. A `ServiceCache` shares its requests by itself.
    public static func coalescingReads() -> Hooks {
        coalescingReads { _ in }
    }

    /// - Parameter onWaiting: hears how many callers wait for one request, whenever one more does.
    package static func coalescingReads(onWaiting: @escaping @Sendable (Int) -> Void) -> Hooks {
        var hooks = Hooks()
        let sharing = ReadSharing(requests: SingleFlight(onWaiting: onWaiting))
        (hooks.stages[.find], hooks.stages[.get]) = ([sharing], [sharing])
        return hooks
    }
}

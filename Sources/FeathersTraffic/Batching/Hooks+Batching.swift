public import FeathersCore

extension Hooks {
    /// Gathers calls that are made at the same time into one call of the server's batch service, which is FeathersJS' `feathers-batch`.
    ///
    /// ```swift
    /// app.addHooks(.batching(over: "batch", services: ["messages", "users"]))
    /// ```
    ///
    /// What is gathered are the requests, after the hooks of each call have run; the batch itself runs none. Each call gets its own result, or its
    /// own error, and its own hooks see it. One that has no company goes by itself, as custom methods always do, which the batch service does not know. Calls
    /// go together that carry the same header fields and timeout, and are made by the same user. Where the batch fails as a whole, so do its calls.
    ///
    /// The call that opens a batch sends it. Where its caller is cancelled meanwhile, the reads of the others are made again, and their writes fail with
    /// ``FeathersError/Code/unavailable``, which may have been executed: gather writes where that is acceptable.
    /// - Parameters:
    ///   - path: the path of the batch service.
    ///   - services: the paths of the services whose calls are gathered; nil for all on the server.
    ///   - methods: the methods that are gathered.
    ///   - window: how long a call waits for others.
    ///   - limit: how many calls a batch has at most; the last one sends it at once.
    ///   - clock: what the window is measured on.
    public static func batching(
        over path: String = "batch", services: [String]? = nil, methods: Set<ServiceMethod> = [.find, .get],
        window: Duration = .milliseconds(10), limit: Int = 50, clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        batching(over: path, services: services, methods: methods, window: window, limit: limit, clock: clock) { _ in }
    }

    /// - Parameter onJoining: hears how many callers wait for others to send their batches, whenever one more does.
    package static func batching(
        over path: String = "batch", services: [String]? = nil, methods: Set<ServiceMethod> = [.find, .get],
        window: Duration = .milliseconds(10), limit: Int = 50, clock: any Clock<Duration> = ContinuousClock(),
        onJoining: @escaping @Sendable (Int) -> Void
    ) -> Hooks {
        var hooks = Hooks()
        let batcher = CallBatcher(path: path, services: services, limit: limit, window: window, clock: clock, onJoining: onJoining)
        for method in methods { hooks.stages[.method(method)] = [batcher] }
        return hooks
    }
}

#if canImport(Network)
    import Dispatch
    import Network

    /// Tells when the network is back, so that no delay is waited for in vain.
    enum NetworkMonitor {
        /// Calls `body` each time a path to the network exists again, until the task is cancelled.
        static func forEach(_ body: @Sendable () -> Void) async {
            let (paths, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
            monitor.start(queue: .global())
            defer { monitor.cancel() }
            var wasAway = false
            for await isThere in paths {
                if isThere, wasAway { body() }
                wasAway = !isThere
            }
        }
    }
#endif

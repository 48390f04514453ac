#if canImport(Network)
    import Dispatch
    import Network

    /// Reports when the network is available again, so that an attempt to connect need not wait for its delay.
    package enum NetworkMonitor {
        /// Calls `body` each time a network path becomes available again, until the task is cancelled.
        package static func forEach(_ body: @Sendable () -> Void) async {
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

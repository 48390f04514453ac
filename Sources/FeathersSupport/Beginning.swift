extension Task where Success == Void, Failure == Never {
    /// Starts a task. Except on Apple platforms, its work begins on the caller's thread, which it leaves when it first
    /// waits. Until then, the caller cannot cancel it.
    ///
    /// Use it for a task that sends a request and waits. Waking another thread for that took 15% of the time of a short
    /// streamed call.
    package static func beginning(_ operation: @escaping @concurrent @Sendable () async -> Void) -> Task {
        #if canImport(Darwin)
            // The oldest supported systems lack immediate tasks.
            Task(operation: operation)
        #else
            Task.immediate(operation: operation)
        #endif
    }
}

/// A thread that serves connections and also runs tasks.
package protocol NetworkExecutor: TaskExecutor {
    /// Adds an observer of the jobs that hold up the thread. It is referenced weakly; adding it again does nothing.
    func report(to observer: any LongJobObserver)

    /// Makes the thread read messages as soon as they arrive, also at high rates, or ends that. Every `true` needs its `false`.
    func readAtOnce(_ isOn: Bool)
}

/// An observer of jobs that held up the connections of the process.
package protocol LongJobObserver: AnyObject, Sendable {
    /// Handles a job that ran for much longer than a connection should have to wait. Called on the network thread.
    func jobEnded(after duration: Duration)
}

/// A transport, an HTTP client, or a WebSocket connector whose connections can be served by a thread that also runs tasks.
package protocol NetworkThreadUser: Sendable {
    /// Opens later connections on the thread, if they can be served there.
    /// - Returns: The thread; nil if the system cannot start one.
    func joinNetworkThread() -> (any NetworkExecutor)?
}

extension Task where Success == Void, Failure == Never {
    /// Starts a task. On Linux, its work begins on the caller's thread, which it leaves when it first waits; it then prefers the caller's executor. Until
    /// the first wait, the caller cannot cancel it.
    ///
    /// Use it for a task that sends a request and waits. Waking another thread for that took 15% of the time of a short streamed call, and 43% on the
    /// network thread.
    package static func beginning(_ operation: @escaping @concurrent @Sendable () async -> Void) -> Task {
        #if os(Linux)
            let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
            return Task.immediate(executorPreference: executor, operation: operation)
        #else
            return Task(operation: operation)
        #endif
    }
}

import FeathersSupport

/// Where the body of ``withFeathersApp(_:on:_:)`` and its child tasks run.
public enum AppExecutor: Sendable, Hashable {
    /// On Swift's thread pool. On Linux, above 20,000 messages per second, the connection reads several messages per wake-up, which can delay one by
    /// 0.1 ms. Sending a call turns this off, unless eight or more calls are in flight.
    case threadPool
    /// On the thread that serves the app's connections, for code that mostly waits for the server; see ``FeathersApp/networkExecutor``. It reads every
    /// message as soon as it arrives.
    case networkThread
    /// The same, with fewer wake-ups at high rates, as on the thread pool.
    case moderatedNetworkThread
}

extension FeathersApp {
    /// The thread that serves this app's connections, as an executor for tasks that mostly wait for the server.
    ///
    /// A result or an event reaches such a task without waking another thread. HTTP requests made after the first use of this property are sent on the
    /// same thread, except those that read or write files. In return, all tasks on this thread and all connections of the process
    /// share one processor core, so a task must not compute for long, block, or access files there. A task that holds up the thread for a tenth of a
    /// second is reported as a warning to the app's diagnostics.
    ///
    /// Nil on Apple platforms, and if the app's transport has no such thread. `withTaskExecutorPreference(nil)` changes nothing, so the same code runs
    /// everywhere. The thread belongs to the process: the executor remains valid after the app's end.
    public var networkExecutor: (any TaskExecutor)? { joinedNetworkThread }

    fileprivate var joinedNetworkThread: (any NetworkExecutor)? {
        let executor = transport?.joinedNetworkThread
        executor?.report(to: self)
        return executor
    }
}

extension Transport {
    /// Moves the connections of this transport and of its components to the network thread, and returns it.
    fileprivate var joinedNetworkThread: (any NetworkExecutor)? {
        let own = (self as? any NetworkThreadUser)?.joinNetworkThread()
        let others = ((self as? any CompositeTransport)?.components ?? []).map(\.joinedNetworkThread)
        return own ?? others.lazy.compactMap(\.self).first
    }
}

extension FeathersApp: LongJobObserver {
    package func jobEnded(after duration: Duration) {
        diagnostics.log(
            .warning, .connection,
            """
            a task held up the network thread, and with it all connections, for \(duration.wholeMilliseconds) ms: compute, block and access files \
            elsewhere, for example in 'withTaskExecutorPreference(globalConcurrentExecutor)'
            """, [.duration: .duration(duration)])
    }
}

/// Runs an app like ``withFeathersApp(_:_:)``, with `body` and its child tasks in a given place, regardless of the caller's actor.
///
/// ```swift
/// try await withFeathersApp(app, on: .networkThread) { app in
///     for await message in app.service("messages", of: Message.self).events(.created) { … }
/// }
/// ```
///
/// - Parameters:
///   - app: The app.
///   - place: Where to run. ``AppExecutor/networkThread`` is the fastest for code that waits, and unsuitable for code that computes. It is the thread pool
///     if the app's ``FeathersApp/networkExecutor`` is nil.
///   - body: The code to run. What it runs on the main actor, on an actor with an executor of its own, or in `Task {}` runs there instead.
/// - Throws: The error of `body`, or otherwise the error of setup or teardown.
public func withFeathersApp<Result: Sendable>(
    _ app: FeathersApp, on place: AppExecutor, _ body: @concurrent @Sendable (FeathersApp) async throws -> Result
) async throws -> Result {
    let thread = place == .threadPool ? nil : app.joinedNetworkThread
    if place == .networkThread { thread?.readAtOnce(true) }
    defer { if place == .networkThread { thread?.readAtOnce(false) } }
    // The thread pool is preferred only over another preference: with any, each suspension searches for it under a lock, which takes a tenth of the
    // instructions of an event. Without one, tasks run there anyway.
    let isElsewhere = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
    let pool = isElsewhere ? globalConcurrentExecutor : nil
    return try await app.lifetime.hold(app) { _ in
        // The closure runs on the caller's actor, but the body leaves it.
        try await withTaskExecutorPreference(thread ?? pool) { try await body(app) }
    }
}

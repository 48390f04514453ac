import FeathersSupport

extension FeathersApp {
    /// Sets the app up, keeps its connection until the task is cancelled or the app is shut down, and tears it down: the life of a server's service.
    ///
    /// It has the form of swift-service-lifecycle's `Service`. Several callers of ``run()`` and ``withFeathersApp(_:_:)`` share one lifetime: it begins
    /// with the first and ends with the last.
    /// - Throws: what the set-up or tear-down throws, and why the connection was closed for good.
    public func run() async throws {
        try await lifetime.hold(self) { connectionEnd in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await connectionEnd.value() } catch is CancellationError {}
                }
                group.addTask {
                    guard let order = try? await self.gate.order() else { return }
                    await self.finish(order)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Opens the transport's connection and returns once it stands; does nothing in an app without a transport.
    ///
    /// The connection stays until ``disconnect()``, or until the app is released, beside everything that holds the app's lifetime. Services are not set up, and background
    /// work is not started: ``withFeathersApp(_:_:)`` and ``run()`` do that.
    /// - Throws: ``FeathersError`` saying why there is no connection, ``FeathersError/Code/badRequest`` if the transport keeps none, as REST.
    public func connect() async throws {
        guard realTimeTransport != nil || transport == nil else {
            throw FeathersError.refused(
                "'connect' needs a transport that keeps a connection, such as '.socketIO(url)'; this app's transport keeps none")
        }
        gate.reopen()
        try await lifetime.connect(realTimeTransport)
    }

    /// Closes the transport's connection and returns when it is closed; does nothing if the transport keeps none.
    ///
    /// It closes the connection for everything that uses it. ``connect()`` opens it again.
    public func disconnect() async {
        await lifetime.endConnection(of: self)
    }

    /// How the connection is; nil if the transport keeps none.
    public var connectionStatus: ConnectionStatus? { realTimeTransport?.status }

    /// How the connection is, and then every change of it. The stream ends at once if the transport keeps none.
    public func connectionStatusUpdates() -> AsyncStream<ConnectionStatus> {
        realTimeTransport?.statusUpdates() ?? AsyncStream { $0.finish() }
    }

    var realTimeTransport: (any RealTimeTransport)? { transport as? any RealTimeTransport }

    /// Adds work that runs beside everything else while the app runs: during ``run()`` and ``withFeathersApp(_:_:)``.
    ///
    /// It starts after the app's set-up, at once in an app that runs already, and is cancelled before the connection closes. It receives the app, so that it
    /// need not keep it.
    public func use(backgroundWork work: @escaping @Sendable (FeathersApp) async -> Void) { lifetime.add(work) }
}

/// Sets an app up, keeps its connection while `body` runs with it, and tears it down whatever happens.
///
/// Calls made before the connection stands wait for it; ``FeathersApp/connectionStatus`` tells how it is. Two bodies of one app share its
/// lifetime and its connection, which end with the last of them.
/// - Throws: what `body` throws, or else what the set-up or tear-down throws.
public func withFeathersApp<Result>(
    _ app: FeathersApp, _ body: (FeathersApp) async throws -> Result
) async throws -> Result {
    // A connection that was closed for good shows in its status and fails the calls that need it.
    try await app.lifetime.hold(app) { _ in try await body(app) }
}

/// The lifetime of an app: counts what holds it, and owns the two tasks that last as long.
final class AppLifetime: Sendable {
    typealias BackgroundWork = @Sendable (FeathersApp) async -> Void

    private struct State {
        var holders = 0
        /// Whether the app runs, or has ever run.
        var hasLived = false
        /// Whether ``FeathersApp/connect()`` holds the connection.
        var isConnectedByHand = false
        var works: [BackgroundWork] = []
        /// Starts work that is added while the app runs.
        var starter: AsyncStream<BackgroundWork>.Continuation?
        var tasks: Tasks?
    }

    private struct Tasks {
        /// Keeps the connection. It holds the transport, never the app.
        let connection: Task<Void, Never>
        let connectionEnd: Promise<Void>
        /// Runs the background work. It holds the app, as each of the holders does.
        let background: Task<Void, Never>
    }

    private let state = Locked(State())
    /// The beginning and the end of the lifetime, one at a time.
    private let transitions = AsyncMutex()

    var hasLived: Bool { state.withLock { $0.hasLived } }

    /// Runs `body` within the lifetime.
    /// - Parameter body: gets a promise that is settled when the connection has ended for good.
    func hold<Result>(_ app: FeathersApp, _ body: (Promise<Void>) async throws -> Result) async throws -> Result {
        app.gate.reopen()
        let connectionEnd = try await transitions.withLock { try await begin(app) }
        let result: Result
        do {
            result = try await withTaskCancellationHandler {
                try await body(connectionEnd)
            } onCancel: {
                cancelIfLast()
            }
        } catch {
            // The body's failure is the one to report; the tear-down must be tried all the same.
            try? await transitions.withLock { try await end(app) }
            throw error
        }
        try await transitions.withLock { try await end(app) }
        return result
    }

    /// The holder that was cancelled ends what it alone keeps, without waiting for its body.
    private func cancelIfLast() {
        let tasks = state.withLock { $0.holders == 1 ? $0.tasks : nil }
        tasks?.background.cancel()
        tasks?.connection.cancel()
    }

    private func begin(_ app: FeathersApp) async throws -> Promise<Void> {
        if let running = state.withLock({ $0.tasks }) {
            guard running.background.isCancelled else {
                state.withLock { $0.holders += 1 }
                return running.connectionEnd
            }
            // The last holder is about to leave. Its work ends, and begins again for the new one.
            await running.background.value
            await running.connection.value
            return start(app)
        }
        try await app.setUp()
        return start(app)
    }

    /// Starts the tasks for one more holder.
    private func start(_ app: FeathersApp) -> Promise<Void> {
        let connectionEnd = Promise<Void>()
        let (added, starter) = AsyncStream.makeStream(of: BackgroundWork.self)
        let works = state.withLock { state in
            (state.starter, state.hasLived) = (starter, true)
            return state.works
        }
        let connection = Task { [transport = app.realTimeTransport] in await Self.keepConnection(transport, connectionEnd) }
        let background = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await app.followConnection() }
                for work in works { group.addTask { await work(app) } }
                for await work in added { group.addTask { await work(app) } }
            }
        }
        state.withLock { state in
            state.holders += 1
            state.tasks = Tasks(connection: connection, connectionEnd: connectionEnd, background: background)
        }
        return connectionEnd
    }

    private func end(_ app: FeathersApp) async throws {
        let (tasks, isConnectedByHand): (Tasks?, Bool) = state.withLock { state in
            state.holders -= 1
            guard state.holders == 0 else { return (nil, false) }
            defer { (state.tasks, state.starter) = (nil, nil) }
            return (state.tasks, state.isConnectedByHand)
        }
        guard let tasks else { return }
        // However it ends.
        defer { app.noteHealth() }
        tasks.background.cancel()
        await tasks.background.value
        tasks.connection.cancel()
        await tasks.connection.value
        if !isConnectedByHand { await app.realTimeTransport?.disconnect() }
        try await app.tearDown()
    }

    private static func keepConnection(_ transport: (any RealTimeTransport)?, _ end: Promise<Void>) async {
        guard let transport else { return }
        do {
            try await transport.run()
            end.resolve(())
        } catch let error as FeathersError where error.code == .conflict {
            // `connect()` has opened it: the connection is the transport's own to keep.
            for await status in transport.statusUpdates() {
                switch status {
                case .closed(let reason): end.fail(FeathersError(.unavailable, "The connection is closed for good: \(reason.wireName)"))
                case .offline: end.resolve(())
                case .connecting, .connected, .waiting: continue
                }
                break
            }
        } catch {
            end.fail(error)
        }
    }

    func add(_ work: @escaping BackgroundWork) {
        let starter = state.withLock { state in
            state.works.append(work)
            return state.starter
        }
        starter?.yield(work)
    }

    func connect(_ transport: (any RealTimeTransport)?) async throws {
        guard let transport else { return }
        state.withLock { $0.isConnectedByHand = true }
        do {
            try await transport.connect()
        } catch {
            state.withLock { $0.isConnectedByHand = false }
            throw error
        }
    }

    func endConnection(of app: FeathersApp) async {
        state.withLock { $0.isConnectedByHand = false }
        await app.realTimeTransport?.disconnect()
    }
}

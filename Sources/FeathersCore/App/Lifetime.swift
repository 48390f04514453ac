import FeathersSupport

extension FeathersApp {
    /// Sets up the app, keeps its connection open until the task is cancelled or the app is shut down, and tears the
    /// app down.
    ///
    /// It has the signature of swift-service-lifecycle's `Service`. Concurrent calls of ``run()`` and
    /// ``withFeathersApp(_:_:)`` share one lifetime. It begins with the first and ends with the last.
    /// - Throws: The errors of setup and teardown, and the reason if the connection was closed permanently.
    public func run() async throws {
        try await appLifetime.hold(self) { connectionEnd in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await connectionEnd.value() } catch is CancellationError {}
                }
                group.addTask {
                    guard let order = try? await self.callGate.order() else { return }
                    await self.finishShutdown(order)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Opens the transport's connection, and returns once it is open. Does nothing if the app has no transport.
    ///
    /// The connection stays open until ``disconnect()``, or until the app is released, independently of the app's
    /// lifetime. This method does not set up services or start background work; ``withFeathersApp(_:_:)`` and ``run()``
    /// do.
    /// - Throws: ``FeathersError`` with the reason if the connection fails, ``FeathersError/Code/badRequest`` if the
    ///   transport has none, like REST.
    public func connect() async throws {
        guard realTimeTransport != nil || transport == nil else {
            throw FeathersError.refused(
                "'connect' needs a transport with a connection, such as '.socketIO(url)'; this app's transport has none"
            )
        }
        callGate.reopen()
        try await UserScope.runApart(in: nil) { try await appLifetime.connect(realTimeTransport) }
    }

    /// Closes the transport's connection, and returns once it is closed. Does nothing if the transport has no
    /// connection.
    ///
    /// This closes the connection for all its users. ``connect()`` opens it again.
    public func disconnect() async {
        await appLifetime.endConnection(of: self)
    }

    /// The status of the connection; nil if the transport has none.
    public var connectionStatus: ConnectionStatus? { realTimeTransport?.status }

    /// Returns the status of the connection, followed by every change. The stream ends immediately if the transport has
    /// no connection.
    public func connectionStatusUpdates() -> AsyncStream<ConnectionStatus> {
        realTimeTransport?.statusUpdates() ?? AsyncStream { $0.finish() }
    }

    var realTimeTransport: (any RealTimeTransport)? { transport as? any RealTimeTransport }

    /// Whether there is a connection, or an attempt to open one.
    package var hasPermanentConnection: Bool {
        guard let status = connectionStatus else { return false }
        return switch status {
        // The app's own task may be about to open it.
        case .offline, .closed: appLifetime.isRunning
        case .connecting, .connected, .waiting: true
        }
    }

    /// Adds work that runs in the background during ``run()`` and ``withFeathersApp(_:_:)``.
    ///
    /// It starts after the app's setup, or immediately if the app is already running, and is cancelled before the
    /// connection closes. It receives the app, so that it need not retain it.
    public func use(backgroundWork work: @escaping @Sendable (FeathersApp) async -> Void) { appLifetime.add(work) }
}

/// Sets up an app, keeps its connection open while `body` runs, and then tears it down, even if `body` throws.
///
/// Calls made before the connection is open wait for it. ``FeathersApp/connectionStatus`` shows its status. Concurrent
/// bodies of one app share its lifetime and its connection, which end with the last of them.
/// - Throws: The error of `body`, or otherwise the error of setup or teardown.
public func withFeathersApp<Result>(
    _ app: FeathersApp, _ body: (FeathersApp) async throws -> Result
) async throws -> Result {
    // A permanently closed connection shows in its status and fails the calls that need it.
    try await app.appLifetime.hold(app) { _ in try await body(app) }
}

/// The lifetime of an app. It counts its holders, and owns the two tasks that run until the last of them leaves.
final class AppLifetime: Sendable {
    typealias BackgroundWork = @Sendable (FeathersApp) async -> Void

    private struct State {
        var holders = 0
        /// Whether the app is running or has ever run.
        var hasLived = false
        /// Whether ``FeathersApp/connect()`` holds the connection.
        var isConnectedByHand = false
        /// Whether a shutdown has ended the connection since the lifetime began.
        var isShutDown = false
        var works: [BackgroundWork] = []
        /// Starts work that is added while the app is running.
        var starter: AsyncStream<BackgroundWork>.Continuation?
        var tasks: Tasks?
    }

    private struct Tasks {
        /// Keeps the connection open. It retains the transport, never the app.
        var connection: Task<Void, Never>
        var connectionEnd: Promise<Void>
        /// Runs the background work. It retains the app, like each of the holders.
        let background: Task<Void, Never>
    }

    private let state = Locked(State())
    /// Serializes the beginning and the end of the lifetime.
    private let transitions = AsyncMutex()

    var hasLived: Bool { state.withLock { $0.hasLived } }
    var isRunning: Bool { state.withLock { $0.tasks != nil } }

    /// Runs `body` within the lifetime.
    /// - Parameter body: Receives a promise that is settled when the connection is closed permanently.
    func hold<Result>(_ app: FeathersApp, _ body: (Promise<Void>) async throws -> Result) async throws -> Result {
        try app.refuseToken(for: "The lifetime of an app")
        app.callGate.reopen()
        // What others set up, or do in the background, is not the call of a user that this task may be making.
        let connectionEnd = try await UserScope.runApart(in: nil) {
            try await transitions.withLock { try await begin(app) }
        }
        let result: Result
        do {
            result = try await withTaskCancellationHandler {
                try await body(connectionEnd)
            } onCancel: {
                cancelIfLast()
            }
        } catch {
            // The body's error is reported, but the teardown must still be attempted.
            try? await transitions.withLock { try await end(app) }
            throw error
        }
        try await transitions.withLock { try await end(app) }
        return result
    }

    /// Cancels the tasks if the cancelled holder is the last one, without waiting for its body.
    private func cancelIfLast() {
        let tasks = state.withLock { $0.holders == 1 ? $0.tasks : nil }
        tasks?.background.cancel()
        tasks?.connection.cancel()
    }

    private func begin(_ app: FeathersApp) async throws -> Promise<Void> {
        if let running = state.withLock({ $0.tasks }) {
            guard running.background.isCancelled else {
                var tasks = running
                // After a shutdown, the earlier holders may still be there, but the connection is not.
                if state.withLock({ $0.isShutDown }) {
                    await running.connection.value
                    (tasks.connection, tasks.connectionEnd) = Self.connection(of: app)
                }
                state.withLock { [tasks] state in
                    (state.holders, state.tasks, state.isShutDown) = (state.holders + 1, tasks, false)
                }
                return tasks.connectionEnd
            }
            // The last holder is about to leave. Its work ends and restarts for the new holder.
            await running.background.value
            await running.connection.value
            return start(app)
        }
        try await app.setUpServices()
        return start(app)
    }

    /// Starts the tasks, with one more holder.
    private func start(_ app: FeathersApp) -> Promise<Void> {
        let (added, starter) = AsyncStream.makeStream(of: BackgroundWork.self)
        let works = state.withLock { state in
            (state.starter, state.hasLived) = (starter, true)
            return state.works
        }
        let (connection, connectionEnd) = Self.connection(of: app)
        let background = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await app.followConnection() }
                for work in works { group.addTask { await work(app) } }
                for await work in added { group.addTask { await work(app) } }
            }
        }
        state.withLock { state in
            (state.holders, state.isShutDown) = (state.holders + 1, false)
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
        // Runs even if the teardown throws.
        defer { app.noteHealth() }
        tasks.background.cancel()
        await tasks.background.value
        tasks.connection.cancel()
        await tasks.connection.value
        if !isConnectedByHand { await app.realTimeTransport?.disconnect() }
        try await app.tearDownServices()
    }

    /// Begins to keep the app's connection, if its transport has one.
    private static func connection(of app: FeathersApp) -> (Task<Void, Never>, end: Promise<Void>) {
        let end = Promise<Void>()
        return (Task { [transport = app.realTimeTransport] in await Self.keepConnection(transport, end) }, end)
    }

    private static func keepConnection(_ transport: (any RealTimeTransport)?, _ end: Promise<Void>) async {
        guard let transport else { return }
        do {
            try await transport.run()
            end.resolve(())
        } catch let error as FeathersError where error.code == .conflict {
            // `connect()` opened the connection, so the transport keeps it open.
            for await status in transport.statusUpdates() {
                switch status {
                case .closed(let reason):
                    end.fail(FeathersError(.unavailable, "The connection is closed permanently: \(reason.wireName)"))
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

    func endConnection(of app: FeathersApp, isShutDown: Bool = false) async {
        state.withLock { ($0.isConnectedByHand, $0.isShutDown) = (false, $0.isShutDown || isShutDown) }
        await app.realTimeTransport?.disconnect()
    }
}

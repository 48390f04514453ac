import FeathersSupport
public import Foundation

/// How an app is, for whoever watches over it: a supervisor, a load balancer.
public struct AppHealth: Sendable, Hashable {
    /// What an app may be.
    public enum State: Sendable, Hashable {
        /// It is not set up yet, or its first connection does not stand.
        case starting
        /// Its calls reach whoever answers them.
        case ready
        /// The connection was lost and is being made again; calls wait for it.
        case reconnecting
        /// Calls under way finish, and none begins any more.
        case shuttingDown
        /// It was ended on this side.
        case stopped
        /// The connection ended and will not come back by itself.
        case failed(DisconnectReason)
    }

    /// How it is now.
    public let state: State
    /// Since when it is so, as far as anybody has looked: while the app lives, it looks itself.
    public let since: Date
    /// How the connection is in detail; nil where the app keeps none.
    public let connection: ConnectionStatus?

    /// Whether it can be given work: readiness.
    public var isReady: Bool { state == .ready }

    /// Whether it may become ready by itself, or is: liveness. An app that is not alive must be started anew.
    public var isAlive: Bool {
        switch state {
        case .starting, .ready, .reconnecting, .shuttingDown: true
        case .stopped, .failed: false
        }
    }

    /// The state in a sentence.
    public var reason: String {
        switch state {
        case .starting: "The app is starting"
        case .ready: "The app is ready"
        case .reconnecting: "The connection was lost and is being made again"
        case .shuttingDown: "The app is shutting down"
        case .stopped: "The app was stopped"
        case .failed(let reason): "The connection is closed for good: \(reason.wireName)"
        }
    }
}

extension FeathersApp {
    /// How the app is: whether its calls reach whoever answers them, and since when.
    public var health: AppHealth {
        noteHealth()
        return healthMonitor.current
    }

    /// How the app is and then every change of it, while the app lives: during ``run()`` and ``withFeathersApp(_:_:)``.
    public func healthUpdates() -> AsyncStream<AppHealth> {
        noteHealth()
        return healthMonitor.updates()
    }

    /// - Parameter hasStood: whether the connection stood in the meantime, which may have been too short to be seen by looking.
    func noteHealth(hasStood: Bool = false) {
        healthMonitor.note { last in
            let connection = connectionStatus
            return (state(after: hasStood && last == .starting ? .ready : last, connection), connection)
        }
    }

    /// Notes every change of the connection until the task is cancelled.
    func followConnection() async {
        for await status in connectionStatusUpdates() {
            if case .connected = status { noteHealth(hasStood: true) } else { noteHealth() }
        }
    }

    private func state(after last: AppHealth.State, _ connection: ConnectionStatus?) -> AppHealth.State {
        if gate.isClosed { return gate.isFinished ? .stopped : .shuttingDown }
        let (phase, hasLived) = (withState { $0.phase }, lifetime.hasLived)
        let atRest: AppHealth.State = hasLived ? .stopped : .starting
        if phase == .settingUp { return .starting }
        switch connection {
        case nil: return phase == .setUp ? .ready : atRest
        case .connected: return .ready
        case .closed(let reason): return .failed(reason)
        case .connecting, .waiting: return last == .ready || last == .reconnecting ? .reconnecting : .starting
        // Set up, it is about to connect.
        case .offline: return phase == .setUp && last == .starting ? .starting : atRest
        }
    }
}

/// How an app is, since when, and everybody who wants to know of its changes.
final class HealthMonitor: Sendable {
    private let value = CurrentValue(AppHealth(state: .starting, since: .now, connection: nil))
    /// Held while the state is looked at, so that what is noted last is what was seen last.
    private let turn = NSLock()

    var current: AppHealth { value.current }

    /// Notes how the app is now.
    /// - Parameter look: the state, knowing the one before, and the connection.
    func note(_ look: (AppHealth.State) -> (AppHealth.State, ConnectionStatus?)) {
        turn.withLock {
            let last = value.current
            let (state, connection) = look(last.state)
            guard state != last.state || connection != last.connection else { return }
            value.enqueue(AppHealth(state: state, since: state == last.state ? last.since : .now, connection: connection))
        }
        value.deliver()
    }

    func updates() -> AsyncStream<AppHealth> { value.updates() }
}

import FeathersSupport
public import Foundation
import Synchronization

/// The health of an app, for a supervisor or a load balancer.
public struct AppHealth: Sendable, Hashable {
    /// The states of an app.
    public enum State: Sendable, Hashable {
        /// Not set up, or not yet connected for the first time.
        case starting
        /// The app is ready for calls.
        case ready
        /// The connection was lost and is being reestablished. Calls wait for it.
        case reconnecting
        /// The last call that does not use the connection did not reach the server. Calls are still sent.
        case unreachable
        /// Calls in flight are finishing, and new calls are rejected.
        case shuttingDown
        /// Stopped by the app itself.
        case stopped
        /// The connection ended and will not be reestablished automatically.
        case failed(DisconnectReason)
    }

    /// The current state.
    public let state: State
    /// When this state began. Updated while the app is running.
    public let since: Date
    /// What the app's calls and events last met on each of its transports. Empty for an app without a transport.
    public internal(set) var transports: [TransportHealth] = []
    /// The status of the connection; nil if the app has none.
    public let connection: ConnectionStatus?
    /// The paths of services whose circuit breakers refuse calls. The app is ready nevertheless, for all others.
    public let openCircuits: [String]

    /// Whether the app can handle calls.
    public var isReady: Bool { state == .ready }

    /// Whether the app is ready or can become ready without intervention. If not, it must be restarted.
    public var isAlive: Bool {
        switch state {
        case .starting, .ready, .reconnecting, .unreachable, .shuttingDown: true
        case .stopped, .failed: false
        }
    }

    /// The state as a sentence.
    public var reason: String {
        switch state {
        case .starting: "The app is starting"
        case .ready where !openCircuits.isEmpty:
            "The app is ready, but makes no calls of \(openCircuits.map { "'\($0)'" }.joined(separator: ", "))"
        case .ready where connection.map(\.isConnected) == false:
            "The app is ready, but receives no events until its connection is reestablished"
        case .ready: "The app is ready"
        case .reconnecting: "The connection was lost and is being reestablished"
        case .unreachable: "The last call did not reach the server"
        case .shuttingDown: "The app is shutting down"
        case .stopped: "The app was stopped"
        case .failed(let reason): "The connection is closed permanently: \(reason.wireName)"
        }
    }
}

extension FeathersApp {
    /// The health of the app, with the time at which it last changed.
    ///
    /// The app is ready if what its calls use is. Over a transport without a connection, such as REST, the last call
    /// decides: if it did not reach the server, the app is `unreachable` until another call does, but for at most 10
    /// seconds. Without this limit, an app that gets no calls because it isn't ready would never be ready again. Over a
    /// mixed transport, both must be reachable, except for a connection that only receives events because
    /// `TransportRoutes` sends no calls over it.
    public var health: AppHealth {
        noteHealth()
        return healthMonitor.current(with: connectionStatus)
    }

    /// Returns the health of the app, followed by every change during ``run()`` and ``withFeathersApp(_:_:)``.
    ///
    /// An app that has been `unreachable` for 10 seconds is reported as ready when ``health`` is read.
    public func healthUpdates() -> AsyncStream<AppHealth> {
        noteHealth()
        return healthMonitor.updates()
    }

    /// - Parameter hasStood: Whether the connection was open in the meantime, possibly too briefly to appear in its
    ///   status.
    func noteHealth(hasStood: Bool = false) {
        healthMonitor.note { last in
            let connection = connectionStatus
            let state = self.healthState(after: hasStood && last == .starting ? .ready : last, connection)
            return (state, connection, circuitCounts.open)
        }
    }

    /// Records every change of the connection until the task is cancelled.
    func followConnection() async {
        for await status in connectionStatusUpdates() {
            if case .connected = status { noteHealth(hasStood: true) } else { noteHealth() }
        }
    }

    private func healthState(after last: AppHealth.State, _ connection: ConnectionStatus?) -> AppHealth.State {
        if callGate.isClosed { return callGate.isFinished ? .stopped : .shuttingDown }
        let (phase, hasLived) = (withState { $0.phase }, appLifetime.hasLived)
        let atRest: AppHealth.State = hasLived ? .stopped : .starting
        if phase == .settingUp { return .starting }
        let ready = healthMonitor.requests.isUnreachable ? AppHealth.State.unreachable : .ready
        switch connection {
        case nil where phase == .setUp: return ready
        case nil: return atRest
        case .connected: return ready
        case .closed(let reason): return .failed(reason)
        case .connecting(1) where last == .starting: return .starting
        case .connecting, .waiting:
            if (transport as? any ConnectionBypassing)?.sendsCallsOverConnection == false { return ready }
            return last == .starting ? .starting : .reconnecting
        // An app that is set up is about to connect.
        case .offline: return phase == .setUp && last == .starting ? .starting : atRest
        }
    }
}

/// The health of an app and its subscribers.
final class HealthMonitor: Sendable {
    /// What calls that do not use the connection meet.
    let requests: CallReach
    /// Whether the app's transport makes such calls.
    private let makesRequests: Bool
    private let value = CurrentValue(AppHealth(state: .starting, since: .now, connection: nil, openCircuits: []))
    private let lostConnection = Locked<TransportHealth.Failure?>(nil)
    /// Held while the state is read, so that the latest reading is recorded last.
    private let turn = NSLock()

    init(of transport: (any Transport)?, clock: any Clock<Duration> = ContinuousClock()) {
        requests = (transport as? any ConnectionBypassing)?.requests ?? CallReach(clock: clock)
        makesRequests =
            transport != nil && (transport is any ConnectionBypassing || !(transport is any RealTimeTransport))
    }

    /// The health, with what the transports meet now.
    func current(with connection: ConnectionStatus?) -> AppHealth {
        var health = value.current
        health.transports = transports(connection)
        return health
    }

    private func transports(_ connection: ConnectionStatus?) -> [TransportHealth] {
        var transports: [TransportHealth] = []
        if let connection {
            transports.append(
                TransportHealth(
                    kind: .connection, isReachable: connection.isConnected, lastFailure: lostConnection.withLock { $0 })
            )
        }
        if makesRequests { transports.append(requests.health) }
        return transports
    }

    /// - Parameter look: Returns the state, given the previous one, the status of the connection, and the paths of open
    ///   circuits.
    func note(_ look: (AppHealth.State) -> (AppHealth.State, ConnectionStatus?, [String])) {
        turn.withLock {
            let last = value.current
            let (state, connection, circuits) = look(last.state)
            guard state != last.state || connection != last.connection || circuits != last.openCircuits else { return }
            if connection != last.connection, let reason = connection?.failure {
                lostConnection.withLock { $0 = TransportHealth.Failure(date: .now, reason: reason) }
            }
            var health = AppHealth(
                state: state, since: state == last.state ? last.since : .now, connection: connection,
                openCircuits: circuits)
            health.transports = transports(connection)
            value.enqueue(health)
        }
        value.deliver()
    }

    func updates() -> AsyncStream<AppHealth> { value.updates() }
}

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
        /// The last call of an app without a connection did not reach the server. Calls are still sent.
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
    /// The status of the connection; nil if the app has none.
    package let connection: ConnectionStatus?
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
    /// Over a transport without a connection, such as REST, the last call decides: if it did not reach the server, the
    /// app is `unreachable` until another call does, but for at most 10 seconds. Without this limit, an app that gets
    /// no calls because it isn't ready would never be ready again.
    public var health: AppHealth {
        noteHealth()
        return healthMonitor.current
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
            let state = self.state(after: hasStood && last == .starting ? .ready : last, connection)
            return (state, connection, circuitCounts.open)
        }
    }

    /// Records every change of the connection until the task is cancelled.
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
        case nil where phase == .setUp: return healthMonitor.isUnreachable ? .unreachable : .ready
        case nil: return atRest
        case .connected: return .ready
        case .closed(let reason): return .failed(reason)
        case .connecting, .waiting: return last == .ready || last == .reconnecting ? .reconnecting : .starting
        // An app that is set up is about to connect.
        case .offline: return phase == .setUp && last == .starting ? .starting : atRest
        }
    }
}

/// The health of an app and its subscribers.
final class HealthMonitor: Sendable {
    /// How long a call that did not reach the server counts.
    static let memory = Duration.seconds(10)

    /// When the last call did not reach the server; nil if it did.
    private let missed = Locked<Duration?>(nil)
    /// Whether `missed` has a value, so that a call that succeeds needs no lock.
    private let hasMissed = Atomic(false)
    private let clock: RelativeClock
    private let value = CurrentValue(AppHealth(state: .starting, since: .now, connection: nil, openCircuits: []))
    /// Held while the state is read, so that the latest reading is recorded last.
    private let turn = NSLock()

    init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = RelativeClock(clock) }

    var current: AppHealth { value.current }

    var isUnreachable: Bool { missed.withLock { $0 }.map { clock.now - $0 < Self.memory } ?? false }

    /// Records whether a call reached the server.
    /// - Returns: Whether the health of the app may have changed.
    func callEnded(reached: Bool) -> Bool {
        if reached, !hasMissed.load(ordering: .acquiring) { return false }
        missed.withLock { missed in
            missed = reached ? nil : clock.now
            hasMissed.store(!reached, ordering: .releasing)
        }
        return true
    }

    /// - Parameter look: Returns the state, given the previous one, the status of the connection, and the paths of open
    ///   circuits.
    func note(_ look: (AppHealth.State) -> (AppHealth.State, ConnectionStatus?, [String])) {
        turn.withLock {
            let last = value.current
            let (state, connection, circuits) = look(last.state)
            guard state != last.state || connection != last.connection || circuits != last.openCircuits else { return }
            value.enqueue(
                AppHealth(
                    state: state, since: state == last.state ? last.since : .now, connection: connection,
                    openCircuits: circuits))
        }
        value.deliver()
    }

    func updates() -> AsyncStream<AppHealth> { value.updates() }
}

import FeathersSupport
import Foundation

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

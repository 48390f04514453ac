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

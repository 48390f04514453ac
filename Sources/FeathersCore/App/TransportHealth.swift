import FeathersSupport
public import Foundation
import Synchronization

/// What an app's calls and events last met on one of its transports.
public struct TransportHealth: Sendable, Hashable {
    /// The ways to a server.
    public enum Kind: String, Sendable, Hashable {
        /// The connection that carries events, and calls that are routed to it.
        case connection
        /// Requests of their own, such as those of REST.
        case requests
    }

    /// A failure to reach the server.
    public struct Failure: Sendable, Hashable {
        /// The time of the failure.
        public let date: Date
        /// The reason as text, without secrets.
        public let reason: String
    }

    /// The way to the server.
    public let kind: Kind
    /// Whether the connection is open, or the last request of the past 10 seconds reached the server.
    public let isReachable: Bool
    /// The last time that the server was not reached; nil if it always was.
    public let lastFailure: Failure?
}

/// A transport that sends some calls beside its connection.
package protocol ConnectionBypassing: RealTimeTransport {
    /// Whether the connection carries calls, rather than only events.
    var sendsCallsOverConnection: Bool { get }
    /// What the calls beside the connection meet.
    var requests: CallReach { get }
}

/// Whether calls without a connection reach the server.
package final class CallReach: Sendable {
    /// How long a call that did not reach the server counts.
    static let memory = Duration.seconds(10)

    private struct State {
        /// When the last call did not reach the server; nil if it did.
        var missed: Duration?
        var failure: TransportHealth.Failure?
        var observers: [WeakApp] = []
    }

    private let state = Locked(State())
    /// Whether the last call did not reach the server, so that one that succeeds needs no lock.
    private let hasMissed = Atomic(false)
    private let clock: RelativeClock

    package init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = RelativeClock(clock) }

    /// Notes the health of an app whenever the outcome of its calls may have changed it.
    func add(_ observer: WeakApp) { state.withLock { $0.observers.append(observer) } }

    var isUnreachable: Bool {
        state.withLock { $0.missed }.map { clock.now - $0 < Self.memory } ?? false
    }

    var health: TransportHealth {
        TransportHealth(
            kind: .requests, isReachable: !isUnreachable, lastFailure: state.withLock { $0.failure })
    }

    /// Records that a call reached the server.
    package func succeeded() {
        if hasMissed.load(ordering: .acquiring) { note(nil) }
    }

    /// Records how a call failed. An error that does not say whether the call reached the server changes nothing.
    package func failed(_ error: any Error) {
        guard let error = error as? FeathersError, let reached = error.reachedServer else { return }
        if reached { succeeded() } else { note(error) }
    }

    private func note(_ error: FeathersError?) {
        let observers = state.withLock { state in
            state.missed = error == nil ? nil : clock.now
            if let error { state.failure = TransportHealth.Failure(date: .now, reason: error.reachText) }
            hasMissed.store(error != nil, ordering: .releasing)
            return state.observers
        }
        for observer in observers { observer.app?.noteHealth() }
    }
}

extension FeathersError {
    /// The name and message, which contain no payload.
    fileprivate var reachText: String { Redaction().redact(text: "\(name): \(message)") }
}

extension ConnectionStatus {
    /// Why there is no connection; nil if none was lost or refused.
    fileprivate var failureReason: DisconnectReason? {
        switch self {
        case .waiting(_, _, let reason), .closed(let reason): reason
        case .offline, .connecting, .connected: nil
        }
    }

    var failure: String? { failureReason.map { Redaction().redact(text: $0.logText) } }
}

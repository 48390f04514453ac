/// A policy that determines when to restore a connection that has ended, and how often to try.
///
/// A connection that the server ends is restored like one that is lost, because servers end their connections when they
/// are deployed. To stay away instead, call `disconnect()` when the status is
/// ``ConnectionStatus/waiting(attempt:delay:after:)`` after ``DisconnectReason/serverDisconnect``.
public struct ReconnectionPolicy: Sendable, Hashable {
    package var initialDelay: Duration
    package var maximumDelay: Duration
    package var multiplier: Double
    package var jitter: Double
    package var maximumAttempts: Int?
    package var stablePeriod: Duration
    package var retriesAfterRefusal: Bool

    /// Creates a policy.
    /// - Parameters:
    ///   - initialDelay: The maximum first delay.
    ///   - maximumDelay: The maximum delay.
    ///   - multiplier: The factor by which each delay is longer than the previous one.
    ///   - jitter: The random part of a delay, from 0 to 1. For example, at 0.5, a delay of 4 s becomes one between 2 s
    ///     and 4 s. It also applies to the maximum delay, so that the clients of a failed server do not all reconnect
    ///     at the same moment.
    ///   - maximumAttempts: The maximum number of consecutive failed attempts, or nil for no limit.
    ///   - stablePeriod: How long a connection must last before delays start over, so that an unstable server isn't
    ///     contacted every second.
    ///   - retriesAfterRefusal: Whether to retry after the server refused the connection (`connect_error`).
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(5), multiplier: Double = 2,
        jitter: Double = 0.5,
        maximumAttempts: Int? = nil, stablePeriod: Duration = .seconds(10), retriesAfterRefusal: Bool = false
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.multiplier = multiplier
        self.jitter = jitter
        self.maximumAttempts = maximumAttempts
        self.stablePeriod = stablePeriod
        self.retriesAfterRefusal = retriesAfterRefusal
    }

    /// A policy that never reconnects automatically.
    public static let never = ReconnectionPolicy(maximumAttempts: 0)

    fileprivate func retries(after reason: DisconnectReason) -> Bool {
        switch reason {
        case .clientDisconnect, .attemptsExhausted: false
        case .refused: retriesAfterRefusal
        case .serverDisconnect, .pingTimeout, .transportClose, .transportError, .parseError: true
        }
    }
}

/// Decides whether and when to reconnect after a connection ends or an attempt fails.
package struct Backoff: Sendable, Hashable {
    package enum Decision: Sendable, Hashable {
        case wait(attempt: Int, delay: Duration)
        case stop(DisconnectReason)
    }

    private let policy: ReconnectionPolicy
    private var failures = 0
    private var connectedAt: Duration?

    package init(policy: ReconnectionPolicy) { self.policy = policy }

    /// The number of the next attempt, counted from 1 since the last stable connection.
    package var attempt: Int { failures + 1 }

    package mutating func connected(now: Duration) { connectedAt = now }

    /// Returns whether no attempt follows such an end, regardless of the number of earlier attempts.
    package func isFinal(_ reason: DisconnectReason) -> Bool { !policy.retries(after: reason) }

    /// Records that a connection ended or an attempt failed. If overruled, an attempt follows even a final end.
    /// `random` is in the range 0..<1.
    package mutating func ended(_ reason: DisconnectReason, isOverruled: Bool = false, now: Duration, random: Double)
        -> Decision
    {
        if let connectedAt, now - connectedAt >= policy.stablePeriod { failures = 0 }
        connectedAt = nil
        guard isOverruled || !isFinal(reason) else { return .stop(reason) }
        if let maximum = policy.maximumAttempts, failures >= maximum {
            return .stop(maximum == 0 ? reason : .attemptsExhausted)
        }
        let delay = delay(random: random)
        failures += 1
        return .wait(attempt: failures, delay: delay)
    }

    private func delay(random: Double) -> Duration {
        .backoff(
            after: failures, from: policy.initialDelay, atMost: policy.maximumDelay, multiplier: policy.multiplier,
            jitter: policy.jitter,
            random: random)
    }
}

extension Duration {
    /// Returns the delay before an attempt that follows earlier ones.
    /// - Parameters:
    ///   - count: The number of delays before.
    ///   - initial: The upper bound of the first delay.
    ///   - maximum: The upper bound of every delay.
    ///   - multiplier: The factor by which each delay is longer than the previous one, at least 1.
    ///   - jitter: The random part, from 0 to 1.
    ///   - random: A random number from 0 to 1.
    package static func backoff(
        after count: Int, from initial: Duration, atMost maximum: Duration, multiplier: Double, jitter: Double,
        random: Double
    ) -> Duration {
        // The power may become infinite, but the maximum still applies.
        var factor = 1.0
        for _ in 0..<max(min(count, 64), 0) { factor *= max(multiplier, 1) }
        let nominal = min(max(initial / .seconds(1), 0) * factor, max(maximum / .seconds(1), 0))
        return .seconds(nominal * (1 - min(max(jitter, 0), 1) * random))
    }
}

import FeathersCore

/// Decides after each end of a connection, or failed attempt, whether and when the next attempt comes.
struct Backoff: Sendable {
    enum Decision: Sendable, Hashable {
        case wait(attempt: Int, delay: Duration)
        case stop(DisconnectReason)
    }

    private let policy: ReconnectionPolicy
    private var failures = 0
    private var connectedAt: Duration?

    init(policy: ReconnectionPolicy) {
        self.policy = policy
    }

    /// The number of the attempt that comes next, from 1 since a connection last stood.
    var attempt: Int { failures + 1 }

    mutating func connected(now: Duration) {
        connectedAt = now
    }

    /// Whether there is no attempt after such an end, however few there were.
    func isFinal(_ reason: DisconnectReason) -> Bool { !policy.retries(after: reason) }

    /// A connection ended, or an attempt failed.
    /// - Parameters:
    ///   - isOverruled: whether it goes on even after an end that is final.
    ///   - random: a number from 0 up to 1, evenly distributed.
    mutating func ended(_ reason: DisconnectReason, isOverruled: Bool = false, now: Duration, random: Double) -> Decision {
        if let connectedAt, now - connectedAt >= policy.stablePeriod { failures = 0 }
        connectedAt = nil
        guard isOverruled || !isFinal(reason) else { return .stop(reason) }
        if let maximum = policy.maximumAttempts, failures >= maximum { return .stop(maximum == 0 ? reason : .attemptsExhausted) }
        let delay = delay(random: random)
        failures += 1
        return .wait(attempt: failures, delay: delay)
    }

    private func delay(random: Double) -> Duration {
        let maximum = max(policy.maximumDelay.seconds, 0)
        // Far beyond the cap the power may be infinite; the minimum still holds.
        var factor = 1.0
        for _ in 0..<min(failures, 64) { factor *= max(policy.multiplier, 1) }
        let nominal = min(max(policy.initialDelay.seconds, 0) * factor, maximum)
        let jitter = min(max(policy.jitter, 0), 1)
        return .seconds(nominal * (1 - jitter * random))
    }
}

extension ReconnectionPolicy {
    fileprivate func retries(after reason: DisconnectReason) -> Bool {
        switch reason {
        case .clientDisconnect, .attemptsExhausted: false
        case .serverDisconnect: retriesAfterServerDisconnect
        case .refused: retriesAfterRefusal
        case .pingTimeout, .transportClose, .transportError, .parseError: true
        }
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}

import FeathersCore
import FeathersNetworking

#if canImport(Network)
    import Dispatch
    import Network
#endif

/// When to restore a lost connection, and how often to try.
public struct ReconnectionPolicy: Sendable, Hashable {
    package var initialDelay: Duration
    package var maximumDelay: Duration
    package var multiplier: Double
    package var jitter: Double
    package var maximumAttempts: Int?
    package var stablePeriod: Duration
    package var retriesAfterRefusal: Bool
    package var retriesAfterServerDisconnect: Bool

    /// Creates a policy.
    /// - Parameters:
    ///   - initialDelay: the longest first delay.
    ///   - maximumDelay: the longest delay.
    ///   - multiplier: the factor by which each delay is longer than the one before.
    ///   - jitter: the random part of a delay, from 0 to 1: at 0.5 a delay of 4 s becomes one between 2 s and 4 s. It also applies at the
    ///     maximum, so that the clients of a failed server do not all return in the same moment.
    ///   - maximumAttempts: how many attempts in a row may fail; nil for no limit.
    ///   - stablePeriod: how long a connection must last before delays start over, so that an unstable server is not asked every second.
    ///   - retriesAfterRefusal: whether to try again after the server refused the connection (`connect_error`).
    ///   - retriesAfterServerDisconnect: whether to try again after the server ended the connection (`io server disconnect`), as FeathersJS
    ///     does when a token expires.
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(5), multiplier: Double = 2, jitter: Double = 0.5,
        maximumAttempts: Int? = nil, stablePeriod: Duration = .seconds(10), retriesAfterRefusal: Bool = false,
        retriesAfterServerDisconnect: Bool = false
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.multiplier = multiplier
        self.jitter = jitter
        self.maximumAttempts = maximumAttempts
        self.stablePeriod = stablePeriod
        self.retriesAfterRefusal = retriesAfterRefusal
        self.retriesAfterServerDisconnect = retriesAfterServerDisconnect
    }

    /// Never connects again automatically.
    public static let never = ReconnectionPolicy(maximumAttempts: 0)

    fileprivate func retries(after reason: DisconnectReason) -> Bool {
        switch reason {
        case .clientDisconnect, .attemptsExhausted: false
        case .serverDisconnect: retriesAfterServerDisconnect
        case .refused: retriesAfterRefusal
        case .pingTimeout, .transportClose, .transportError, .parseError: true
        }
    }
}

/// Decides whether and when to connect again after a connection ends or an attempt fails.
struct Backoff: Sendable {
    enum Decision: Sendable, Hashable {
        case wait(attempt: Int, delay: Duration)
        case stop(DisconnectReason)
    }

    private let policy: ReconnectionPolicy
    private var failures = 0
    private var connectedAt: Duration?

    init(policy: ReconnectionPolicy) { self.policy = policy }

    /// The number of the next attempt, counted from 1 since the last stable connection.
    var attempt: Int { failures + 1 }

    mutating func connected(now: Duration) { connectedAt = now }

    /// Whether no attempt follows such an end, regardless of how many there were.
    func isFinal(_ reason: DisconnectReason) -> Bool { !policy.retries(after: reason) }

    /// A connection ended, or an attempt failed. Overruled, even a final end is followed by an attempt; `random` is from 0 up to 1.
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
        // The power may become infinite; the maximum still applies.
        var factor = 1.0
        for _ in 0..<min(failures, 64) { factor *= max(policy.multiplier, 1) }
        let nominal = min(max(policy.initialDelay.seconds, 0) * factor, maximum)
        let jitter = min(max(policy.jitter, 0), 1)
        return .seconds(nominal * (1 - jitter * random))
    }
}

#if canImport(Network)
    /// Reports when the network is back, so that an attempt to connect need not wait for its delay.
    enum NetworkMonitor {
        /// Calls `body` each time a network path becomes available again, until the task is cancelled.
        static func forEach(_ body: @Sendable () -> Void) async {
            let (paths, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
            monitor.start(queue: .global())
            defer { monitor.cancel() }
            var wasAway = false
            for await isThere in paths {
                if isThere, wasAway { body() }
                wasAway = !isThere
            }
        }
    }
#endif

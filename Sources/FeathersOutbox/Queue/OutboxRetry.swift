/// How long an outbox waits before it tries again.
public struct OutboxRetry: Sendable, Hashable {
    /// What the first delay is at most.
    public var initialDelay: Duration
    /// What any delay is at most, unless the server asks for a longer one.
    public var maximumDelay: Duration
    /// How much longer each delay is than the one before.
    public var multiplier: Double
    /// Which part of a delay is left to chance, from 0 to 1, so that the clients of a failed server do not come back in step.
    public var jitter: Double

    /// Delays; the parameters are the properties of the same names.
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(60), multiplier: Double = 2, jitter: Double = 0.5
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.multiplier = multiplier
        self.jitter = jitter
    }

    /// - Parameters:
    ///   - failures: how many attempts in a row have failed, from 1.
    ///   - random: a number from 0 up to 1, evenly distributed.
    func delay(after failures: Int, random: Double) -> Duration {
        // Far beyond the maximum the power would be infinite.
        var nominal = max(initialDelay, .zero)
        for _ in 1..<max(min(failures, 64), 1) where nominal < maximumDelay { nominal = nominal * max(multiplier, 1) }
        return min(nominal, maximumDelay) * (1 - min(max(jitter, 0), 1) * random)
    }
}

/// When a call is tried again: how often, after what pause, in what time. Without input or output.
struct RetrySchedule: Sendable {
    /// How often the call may still be tried again.
    private var remaining: Int
    /// The next pause at its longest, where the server does not say one.
    private var pause: Duration
    private let longestPause: Duration
    /// How long the call may take in all; nil for as long as it takes.
    private let timeout: Duration?

    init(attempts: Int, pause: Duration, longestPause: Duration, timeout: Duration?) {
        (remaining, self.longestPause, self.timeout) = (attempts - 1, longestPause, timeout)
        self.pause = min(pause, longestPause)
    }

    /// The pause before the next try; nil where there is none.
    /// - Parameters:
    ///   - retryAfter: how long the server asks to wait.
    ///   - elapsed: how long the call has taken so far.
    ///   - chance: from 0 to 1, so that clients do not come back in step.
    mutating func failed(retryAfter: Duration?, elapsed: Duration, chance: Double) -> Duration? {
        guard remaining > 0 else { return nil }
        // Nobody comes earlier than the server asked for, nor waits for longer than is worth it.
        if let retryAfter, retryAfter > longestPause { return nil }
        let drawn = retryAfter.map { $0 + pause * (chance / 2) } ?? pause * (0.5 + chance / 2)
        if let timeout, elapsed + drawn >= timeout { return nil }
        remaining -= 1
        pause = min(pause * 2, longestPause)
        return drawn
    }

    /// What is left of the call's time.
    func timeLeft(after elapsed: Duration) -> Duration? { timeout.map { $0 - elapsed } }
}

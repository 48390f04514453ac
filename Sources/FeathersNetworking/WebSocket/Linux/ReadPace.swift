/// Decides when a network thread lets messages gather before it reads them, as network cards do.
///
/// Servers write messages one by one, and each would wake the thread, and that thread its reader. When they follow each
/// other closely, the thread sleeps before it waits again, and several cost one wake-up. It never does so while a few
/// callers wait for their responses, because each of them would wait longer.
struct ReadPace {
    /// The microseconds to sleep. The kernel adds its timer slack, 50 by default.
    static let nap: UInt32 = 20
    /// The same for streamed bodies, which no caller waits for.
    static let bodyNap: UInt32 = 100
    /// The number of turns in a row with close messages before the thread sleeps.
    static let quietTurns = 8
    /// The longest time between messages that follow each other closely. At that rate, two arrive while the thread
    /// sleeps, which costs about as much as to wake it for each.
    static let closeMessages = Duration.microseconds(50)
    /// The number of messages of a turn that count. If there are more, the server sent them together, and others may
    /// not follow soon.
    static let countedMessages = 8
    /// The number of waiting callers from which each of them gains more than it waits.
    static let manyCallers = 16
    /// The time after which messages without a response are no longer taken for calls.
    static let patience = Duration.milliseconds(10)

    private var turns = 0
    private var last: ContinuousClock.Instant?
    /// The number of messages sent that may still get a response.
    private var waiting = 0

    /// Returns whether to sleep at the end of a turn. A turn in which nothing was read or sent changes nothing.
    /// - Parameters:
    ///   - messages: The number of messages read since the last call.
    ///   - sent: The number of messages sent since then.
    mutating func naps(at now: ContinuousClock.Instant, read messages: Int, sent: Int) -> Bool {
        guard messages + sent > 0 else { return false }
        defer { last = now }
        guard let last else { return false }
        let passed = last.duration(to: now)
        waiting = max(passed > Self.patience ? sent : waiting + sent - messages, 0)
        guard waiting + sent == 0 || waiting >= Self.manyCallers,
            passed <= Self.closeMessages * min(messages, Self.countedMessages)
        else {
            turns = 0
            return false
        }
        turns += 1
        return turns > Self.quietTurns
    }
}

#if os(Linux)
    /// Decides when the network thread lets messages gather before it reads them, as network cards do.
    ///
    /// Servers write events one by one, and each would wake the thread, and that thread its reader. When messages follow each other closely, the thread
    /// sleeps before it waits again, and several cost one wake-up: 7 instead of 12 to 14 µs of CPU for an event, and 8 instead of 16 for a call when 64
    /// are in flight.
    struct ReadModeration {
        /// The microseconds to sleep. The kernel adds its timer slack, 50 by default.
        static let nap: UInt32 = 20
        /// The same for bodies that are read while they arrive: no request waits for one of their events. Events one by one cost
        /// 4.8 instead of 13.9 µs of CPU, which is less than the system calls to receive each by itself; 6.6 with the nap of messages.
        static let bodyNap: UInt32 = 100
        /// The number of turns in a row with close messages before the thread sleeps.
        static let quietTurns = 8
        /// The longest time between messages that follow each other closely. At that rate, two arrive while the thread sleeps, which costs about as
        /// much as to wake it for each.
        static let closeMessages = Duration.microseconds(50)
        /// The number of messages of a turn that count. If there are more, the server sent them together, and others may not follow
        /// soon.
        static let countedMessages = 8

        private var turns = 0
        private var last: ContinuousClock.Instant?

        /// Returns whether to sleep at the end of a turn.
        /// - Parameters:
        ///   - messages: The number of messages read since the last call.
        ///   - hasWritten: Whether any thread has sent anything since the last turn that must not wait, because its sender waits for the response.
        mutating func sleeps(at now: ContinuousClock.Instant, messages: Int, hasWritten: Bool) -> Bool {
            defer { last = now }
            guard !hasWritten, let last, last.duration(to: now) <= Self.closeMessages * min(messages, Self.countedMessages) else {
                turns = 0
                return false
            }
            turns += 1
            return turns > Self.quietTurns
        }
    }
#endif

#if os(Linux)
    import CLinuxIO
    import Foundation

    /// The loop on its own thread: socket listeners, deadlines, and jobs. Not `Sendable`: listeners can access it only while they are called.
    final class SocketLoopThread {
        private static let batch = 128
        /// The number of jobs that run before the sockets get their turn: a task that yields again and again would otherwise keep it.
        static let jobsPerTurn = 512
        /// The milliseconds from which a job is reported as holding up the connections. A tenth of a second is what people notice, and more than a
        /// busy machine's scheduler or the clock, which ticks every 4 to 10 ms, makes of a short job.
        static let longJob: Int64 = 100

        private let epoll: Int32
        private let loop: SocketLoop
        private var listeners: [SocketLoop.Token: any SocketListener] = [:]
        private var deadlines = DeadlineTable<SocketLoop.Token>()
        /// The listeners to call again. Each is called at most once per iteration, however often it requests this.
        private var again: Set<SocketLoop.Token> = []
        private var moderation = ReadModeration()
        /// The number of messages read since the thread last decided whether to let them gather.
        var messages = 0

        /// The read buffer for the listener that is being called.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

        init(epoll: Int32, loop: SocketLoop) {
            self.epoll = epoll
            self.loop = loop
        }

        /// Whether tasks are waiting for the thread.
        var hasJobs: Bool { !loop.jobs.isEmpty }

        /// Stops listening. After that, the socket may be closed.
        func detach(_ token: SocketLoop.Token) {
            guard let listener = listeners.removeValue(forKey: token) else { return }
            deadlines.set(nil, for: token)
            if let descriptor = listener.descriptor { _ = clinuxio_unwatch(epoll, descriptor) }
        }

        /// Watches a socket for reading or writing until it is detached, and reports what is possible as long as it is.
        /// - Returns: Whether the system can watch it.
        func watch(_ descriptor: Int32, for listener: any SocketListener, _ token: SocketLoop.Token, reads: Bool, writes: Bool) -> Bool {
            let isNew = listeners.updateValue(listener, forKey: token) == nil
            return clinuxio_watch_level(epoll, descriptor, token, reads ? 1 : 0, writes ? 1 : 0, isNew ? 1 : 0) == 0
        }

        /// Sets the time at which to call the listener, replacing any previous deadline.
        func setDeadline(_ deadline: ContinuousClock.Instant?, for token: SocketLoop.Token) { deadlines.set(deadline, for: token) }

        /// Calls the listener again after the other listeners have been served.
        func callAgain(_ token: SocketLoop.Token) { again.insert(token) }

        func run() -> Never {
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.batch)
            while true {
                var timeout = timeout
                if timeout != 0, loop.moderatesReads {
                    if moderation.sleeps(at: .now, messages: messages, hasWritten: loop.takeHasWritten()) { loop.nap() }
                    messages = 0
                }
                if timeout != 0, !loop.fallAsleep() { timeout = 0 }
                let count = Int(epoll_wait(epoll, events, Int32(Self.batch), timeout))
                let hasMail = loop.wakeUp()
                // Taken first: later requests are served after any events that become ready in the meantime.
                let agains = again
                again = []
                for index in 0..<max(count, 0) { tell(events + index) }
                for token in agains { listeners[token]?.woken(on: self) }
                if hasMail { for command in loop.take() { perform(command) } }
                runJobs()
                if deadlines.earliest != nil { for token in deadlines.due(at: .now) { listeners[token]?.deadlinePassed(on: self) } }
                endTurn()
            }
        }

        /// Runs the jobs that are waiting, within the limit, and reports the longest if it held up the connections.
        private func runJobs() {
            guard hasJobs else { return }
            let executor = loop.asUnownedTaskExecutor()
            var start = clinuxio_coarse_milliseconds()
            var longest: Int64 = 0
            for _ in 0..<Self.jobsPerTurn {
                guard let job = loop.jobs.popFirst() else { break }
                job.runSynchronously(on: executor)
                let end = clinuxio_coarse_milliseconds()
                longest = max(longest, end - start)
                start = end
            }
            if longest >= Self.longJob { loop.jobEnded(after: .milliseconds(longest)) }
        }

        private func endTurn() {
            guard loop.hasTurnEnds else { return }
            for token in loop.takeTurnEnds() {
                guard let listener = listeners[token] else {
                    // Its socket has yet to be attached, or was detached.
                    loop.send(.wake(token))
                    continue
                }
                listener.turnEnded(on: self)
            }
        }

        private func tell(_ event: UnsafePointer<epoll_event>) {
            // A listener detached earlier in the same batch receives no more events. The bell has none: the mailbox is looked at in every turn.
            guard let listener = listeners[clinuxio_token(event)] else { return }
            let (isReadable, isWritable) = (clinuxio_is_readable(event) != 0, clinuxio_is_writable(event) != 0)
            listener.changed(isReadable: isReadable, isWritable: isWritable, isEnding: clinuxio_is_ending(event) != 0, on: self)
        }

        private func perform(_ command: SocketLoop.Command) {
            switch command {
            case .attach(let token, let make):
                let listener = make()
                listeners[token] = listener
                if let descriptor = listener.descriptor, clinuxio_watch(epoll, descriptor, token) != 0 { listener.failed(on: self) }
            case .wake(let token): listeners[token]?.woken(on: self)
            case .call(let body): body()
            }
        }

        /// The milliseconds until something is due, or -1 if nothing is.
        private var timeout: Int32 {
            guard again.isEmpty, !hasJobs, !loop.hasTurnEnds else { return 0 }
            guard let earliest = deadlines.earliest else { return -1 }
            return ContinuousClock.now.duration(to: earliest).milliseconds
        }
    }

    /// Serves one socket, only on the loop's thread.
    protocol SocketListener: AnyObject {
        /// The socket to watch for all changes; nil if the listener watches sockets itself, or none.
        var descriptor: Int32? { get }
        /// Handles a change of the socket, which may have bytes to read, or be writable again. `isEnding` means that the peer will send nothing more,
        /// or that the connection is broken.
        func changed(isReadable: Bool, isWritable: Bool, isEnding: Bool, on thread: SocketLoopThread)

        /// Handles a wake-up from another thread, or the call that the listener requested.
        func woken(on thread: SocketLoopThread)

        /// Handles the end of a turn, which the listener requested with ``SocketLoop/callAtEndOfTurn(_:)``.
        func turnEnded(on thread: SocketLoopThread)

        func deadlinePassed(on thread: SocketLoopThread)
        func failed(on thread: SocketLoopThread)
    }
#endif

struct DeadlineTable<Key: Hashable> {
    private var deadlines: [Key: ContinuousClock.Instant] = [:]
    /// A lower bound for all deadlines. It may be too early, because it isn't recalculated when a deadline is removed.
    private(set) var earliest: ContinuousClock.Instant?

    /// Sets a key's deadline, replacing any previous one. Nil removes it.
    mutating func set(_ deadline: ContinuousClock.Instant?, for key: Key) {
        deadlines[key] = deadline
        if deadlines.isEmpty {
            earliest = nil
        } else if let deadline {
            earliest = min(earliest ?? deadline, deadline)
        }
    }

    /// Removes and returns the keys whose deadline has passed, earliest first.
    mutating func due(at now: ContinuousClock.Instant) -> [Key] {
        guard let earliest, earliest <= now else { return [] }
        let due = deadlines.filter { $0.value <= now }.sorted { $0.value < $1.value }.map(\.key)
        for key in due { deadlines[key] = nil }
        self.earliest = deadlines.values.min()
        return due
    }
}

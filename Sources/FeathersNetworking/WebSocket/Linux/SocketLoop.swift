#if os(Linux)
    import CLinuxIO
    import FeathersSupport
    import Foundation
    import Synchronization

    /// The single thread that serves all WebSockets of the process, as other threads see it: a mailbox, and an executor of tasks. One thread with epoll
    /// handles twice as many messages as a dispatch source per socket. In addition, Dispatch on Linux loses events of reset sockets
    /// (swift-corelibs-libdispatch #949, #833).
    ///
    /// Tasks run between the events of the sockets, in the order in which they were enqueued, regardless of their priorities. What arrives is passed to
    /// a task on this thread without waking another. The loop belongs to the process: it exists only with its thread, which never ends, so
    /// every enqueued job runs.
    final class SocketLoop: NetworkExecutor {
        typealias Token = UInt64

        enum Command: Sendable {
            /// Starts watching a socket. Its listener is created on the loop's thread and stays there.
            case attach(Token, make: @Sendable () -> any SocketListener)
            case wake(Token)
            case call(@Sendable () -> Void)
        }

        private struct Mailbox: Sendable {
            var commands: [Command] = []
            var jobs: [UnownedJob] = []
            var nextToken: Token = 1
        }

        private struct Observer: Sendable {
            weak var object: (any LongJobObserver)?
        }

        /// Whether the thread must be told about something in the mailbox.
        private enum Attention: UInt8, AtomicRepresentable {
            /// It looks before it waits.
            case awake
            /// It sleeps for a moment while messages gather, and then looks; see ``ReadModeration``.
            case napping
            /// It waits, or is about to, without another look.
            case asleep
            case hasMail
        }

        private static let running = Locked<SocketLoop?>(nil)

        private let mailbox = Locked(Mailbox())
        private let attention = Atomic(Attention.awake)
        private let observers = Locked<[Observer]>([])
        /// The number of callers that want no ``ReadModeration``.
        private let hurried = Atomic(0)
        private let hasWritten = Atomic(false)
        /// An event counter that wakes the thread. It is watched for changes, so its value is never read.
        private let bell: Int32
        private let thread = Atomic<UInt>(0)
        // Unsafe: these two are accessed only on the loop's thread, which `isCurrent` establishes.
        /// The jobs to run, without a lock.
        nonisolated(unsafe) var jobs = JobQueue()
        /// The listeners to call at the end of the turn.
        nonisolated(unsafe) private var turnEnds: [Token] = []

        private init(bell: Int32) { self.bell = bell }

        /// Returns the loop, which starts on first use and runs until the process ends.
        /// - Throws: An error if the system provides no thread or descriptors. The next call tries again.
        static func shared() throws(WebSocketError) -> SocketLoop {
            try running.withLock { running throws(WebSocketError) in
                if let running { return running }
                let loop = try start { NetworkThread.start("feathers-socket", runsTasks: true, $0) }
                running = loop
                return loop
            }
        }

        /// Starts a loop on the thread that `startThread` creates, if it can.
        static func start(_ startThread: (@escaping @Sendable () -> Void) -> Bool) throws(WebSocketError) -> SocketLoop {
            let (epoll, bell) = (clinuxio_epoll_create(), clinuxio_event_create())
            let loop = SocketLoop(bell: bell)
            guard
                epoll >= 0, bell >= 0, clinuxio_watch(epoll, bell, 0) == 0,
                startThread({
                    loop.thread.store(pthread_self(), ordering: .relaxed)
                    SocketLoopThread(epoll: epoll, loop: loop).run()
                })
            else {
                for descriptor in [epoll, bell] where descriptor >= 0 { close(descriptor) }
                throw WebSocketError(.cannotConnect, "The system has no more threads or file descriptors available")
            }
            return loop
        }

        /// Whether the caller runs on the loop's thread.
        var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

        func newToken() -> Token {
            mailbox.withLock { mailbox in
                defer { mailbox.nextToken += 1 }
                return mailbox.nextToken
            }
        }

        func send(_ command: Command) {
            mailbox.withLock { $0.commands.append(command) }
            notify()
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            if isCurrent { return jobs.append(job) }
            mailbox.withLock { $0.jobs.append(job) }
            notify()
        }

        /// Wakes the thread if it is asleep. The mailbox was filled before: either the thread finds `hasMail` before it waits, or this call finds it
        /// asleep.
        private func notify() {
            guard attention.exchange(.hasMail, ordering: .acquiringAndReleasing) == .asleep else { return }
            var one: UInt64 = 1
            _ = write(bell, &one, MemoryLayout.size(ofValue: one))
        }

        // MARK: Moderation

        func readAtOnce(_ isOn: Bool) { hurried.wrappingAdd(isOn ? 1 : -1, ordering: .relaxed) }

        var moderatesReads: Bool { hurried.load(ordering: .relaxed) == 0 }

        /// Whether the thread sleeps for a moment, and then takes its mail.
        var isNapping: Bool { attention.load(ordering: .relaxed) == .napping }

        /// Notes that the current thread sends something whose response its sender waits for.
        func noteWrite() { hasWritten.store(true, ordering: .relaxed) }

        func takeHasWritten() -> Bool { hasWritten.exchange(false, ordering: .relaxed) }

        // MARK: Long jobs

        func report(to observer: any LongJobObserver) {
            observers.withLock { observers in
                observers.removeAll { $0.object == nil }
                if !observers.contains(where: { $0.object === observer }) { observers.append(Observer(object: observer)) }
            }
        }

        func jobEnded(after duration: Duration) {
            for observer in observers.withLock(\.self) { observer.object?.jobEnded(after: duration) }
        }

        // MARK: On the loop's thread

        /// Sleeps while messages gather, unless there is something in the mailbox.
        func nap(_ sleep: () -> Void = { usleep(ReadModeration.nap) }) {
            guard attention.compareExchange(expected: .awake, desired: .napping, ordering: .relaxed).exchanged else { return }
            sleep()
            _ = attention.compareExchange(expected: .napping, desired: .awake, ordering: .relaxed)
        }

        /// Announces that the thread is about to wait.
        /// - Returns: `false` if there is something in the mailbox, so that it must not wait.
        func fallAsleep() -> Bool {
            attention.compareExchange(expected: .awake, desired: .asleep, ordering: .acquiringAndReleasing).exchanged
        }

        /// - Returns: Whether there may be something in the mailbox.
        func wakeUp() -> Bool { attention.exchange(.awake, ordering: .acquiringAndReleasing) == .hasMail }

        /// Empties the mailbox: moves the jobs to the thread's own queue, and returns the commands.
        func take() -> [Command] {
            let (commands, jobs) = mailbox.withLock { mailbox in
                defer { (mailbox.commands, mailbox.jobs) = ([], []) }
                return (mailbox.commands, mailbox.jobs)
            }
            for job in jobs { self.jobs.append(job) }
            return commands
        }

        /// Calls a listener at the end of this turn, after the jobs.
        func callAtEndOfTurn(_ token: Token) { turnEnds.append(token) }

        var hasTurnEnds: Bool { !turnEnds.isEmpty }

        func takeTurnEnds() -> [Token] {
            defer { turnEnds.removeAll(keepingCapacity: true) }
            return turnEnds
        }
    }

    /// A queue in the order of arrival. It keeps as much memory as the most jobs that ever waited need.
    struct JobQueue: Sendable {
        private var arrived: [UnownedJob] = []
        private var leaving: [UnownedJob] = []
        private var next = 0

        var isEmpty: Bool { next == leaving.count && arrived.isEmpty }

        mutating func append(_ job: UnownedJob) { arrived.append(job) }

        mutating func popFirst() -> UnownedJob? {
            if next == leaving.count {
                guard !arrived.isEmpty else { return nil }
                leaving.removeAll(keepingCapacity: true)
                swap(&leaving, &arrived)
                next = 0
            }
            defer { next += 1 }
            return leaving[next]
        }
    }
#endif

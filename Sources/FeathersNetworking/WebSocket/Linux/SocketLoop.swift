#if os(Linux)
    import CLinuxIO
    import FeathersSupport
    import Foundation

    /// The mailbox of the single thread that serves all WebSockets of the process. One thread with epoll handles twice as many messages as a dispatch
    /// source per socket. In addition, Dispatch on Linux loses events of reset sockets (swift-corelibs-libdispatch #949, #833).
    final class SocketLoop: Sendable {
        typealias Token = UInt64

        enum Command: Sendable {
            /// Starts watching a socket. Its listener is created on the loop's thread and stays there.
            case attach(Token, make: @Sendable () -> any SocketListener)
            case wake(Token)
            case call(@Sendable () -> Void)
        }

        private struct Mailbox: Sendable {
            var commands: [Command] = []
            var nextToken: Token = 1
        }

        private static let running = Locked<SocketLoop?>(nil)

        private let mailbox = Locked(Mailbox())
        /// An event counter that wakes the thread to check the mailbox.
        private let bell: Int32

        private init(bell: Int32) { self.bell = bell }

        /// Returns the loop, which starts on first use and runs until the process ends.
        /// - Throws: An error if the system provides no thread or descriptors. The next call tries again.
        static func shared() throws(WebSocketError) -> SocketLoop {
            try running.withLock { running throws(WebSocketError) in
                if let running { return running }
                let (epoll, bell) = (clinuxio_epoll_create(), clinuxio_event_create())
                let loop = SocketLoop(bell: bell)
                guard
                    epoll >= 0, bell >= 0, clinuxio_watch(epoll, bell, 0) == 0,
                    NetworkThread.start("feathers-socket", { SocketLoopThread(epoll: epoll, bell: bell, mailbox: loop).run() })
                else {
                    for descriptor in [epoll, bell] where descriptor >= 0 { close(descriptor) }
                    throw WebSocketError(.cannotConnect, "The system has no more threads or file descriptors available")
                }
                running = loop
                return loop
            }
        }

        func newToken() -> Token {
            mailbox.withLock { mailbox in
                defer { mailbox.nextToken += 1 }
                return mailbox.nextToken
            }
        }

        func send(_ command: Command) {
            let isFirst = mailbox.withLock { mailbox in
                mailbox.commands.append(command)
                return mailbox.commands.count == 1
            }
            // If the mailbox already held a command, the bell has already rung.
            guard isFirst else { return }
            var one: UInt64 = 1
            _ = write(bell, &one, MemoryLayout.size(ofValue: one))
        }

        func take() -> [Command] {
            mailbox.withLock { mailbox in
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
        }
    }

    /// The loop on its own thread: socket listeners and deadlines. Not `Sendable`: listeners can access it only while they are called.
    final class SocketLoopThread {
        private static let batch = 128

        private let epoll: Int32
        private let bell: Int32
        private let mailbox: SocketLoop
        private var listeners: [SocketLoop.Token: any SocketListener] = [:]
        private var deadlines = DeadlineTable<SocketLoop.Token>()
        /// The listeners to call again. Each is called at most once per iteration, however often it requests this.
        private var again: Set<SocketLoop.Token> = []
        /// Whether the mailbox holds commands.
        private var hasRung = false

        /// The read buffer for the listener that is being called.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

        init(epoll: Int32, bell: Int32, mailbox: SocketLoop) {
            self.epoll = epoll
            self.bell = bell
            self.mailbox = mailbox
        }

        /// Stops listening. After that, the socket may be closed.
        func detach(_ token: SocketLoop.Token) {
            guard let listener = listeners.removeValue(forKey: token) else { return }
            deadlines.set(nil, for: token)
            _ = clinuxio_unwatch(epoll, listener.descriptor)
        }

        /// Sets the time at which to call the listener, replacing any previous deadline.
        func setDeadline(_ deadline: ContinuousClock.Instant?, for token: SocketLoop.Token) { deadlines.set(deadline, for: token) }

        /// Calls the listener again after the other listeners have been served.
        func callAgain(_ token: SocketLoop.Token) { again.insert(token) }

        func run() -> Never {
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.batch)
            while true {
                let count = Int(epoll_wait(epoll, events, Int32(Self.batch), timeout))
                // Taken first: later requests are served after any events that become ready in the meantime.
                let agains = again
                again = []
                for index in 0..<max(count, 0) { tell(events + index) }
                for token in agains { listeners[token]?.woken(on: self) }
                if hasRung {
                    hasRung = false
                    for command in mailbox.take() { perform(command) }
                }
                for token in deadlines.due(at: .now) { listeners[token]?.deadlinePassed(on: self) }
            }
        }

        private func tell(_ event: UnsafePointer<epoll_event>) {
            let token = clinuxio_token(event)
            guard token != 0 else {
                // Silenced before the mailbox is emptied, so that a later command rings again.
                hasRung = true
                var rings: UInt64 = 0
                _ = read(bell, &rings, MemoryLayout.size(ofValue: rings))
                return
            }
            // A listener detached earlier in the same batch receives no more events.
            let (isReadable, isEnding) = (clinuxio_is_readable(event) != 0, clinuxio_is_ending(event) != 0)
            listeners[token]?.changed(isReadable: isReadable, isEnding: isEnding, on: self)
        }

        private func perform(_ command: SocketLoop.Command) {
            switch command {
            case .attach(let token, let make):
                let listener = make()
                listeners[token] = listener
                if clinuxio_watch(epoll, listener.descriptor, token) != 0 { listener.failed(on: self) }
            case .wake(let token): listeners[token]?.woken(on: self)
            case .call(let body): body()
            }
        }

        /// The milliseconds until something is due, or -1 if nothing is.
        private var timeout: Int32 {
            guard again.isEmpty else { return 0 }
            guard let earliest = deadlines.earliest else { return -1 }
            return ContinuousClock.now.duration(to: earliest).milliseconds
        }
    }

    /// Serves one socket, only on the loop's thread.
    protocol SocketListener: AnyObject {
        var descriptor: Int32 { get }
        /// Handles a change of the socket, which may be writable again and may have bytes to read. `isEnding` means that the peer will send nothing
        /// more, or that the connection is broken.
        func changed(isReadable: Bool, isEnding: Bool, on thread: SocketLoopThread)

        /// Handles a wake-up from another thread, or the call that the listener requested.
        func woken(on thread: SocketLoopThread)

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

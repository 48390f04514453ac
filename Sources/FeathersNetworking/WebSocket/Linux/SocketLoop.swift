#if os(Linux)
    import CLinuxIO
    import FeathersSupport
    import Foundation

    /// The mailbox of the one thread that serves all WebSockets of the process. One thread with epoll serves twice as many messages as a
    /// dispatch source for each socket, and Dispatch on Linux loses events of sockets that were reset (swift-corelibs-libdispatch #949,
    /// #833).
    final class SocketLoop: Sendable {
        typealias Token = UInt64

        enum Command: Sendable {
            /// Watches a socket from here on; what serves it is made on the loop's own thread and stays there.
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
        /// An event counter, which makes the thread look into the mailbox.
        private let bell: Int32

        private init(bell: Int32) { self.bell = bell }

        /// The loop, started on first use; it stays for as long as the process.
        /// - Throws: where the system grants no thread or descriptors; the next call tries again.
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
                    throw WebSocketError(.cannotConnect, "The system grants no more threads or descriptors")
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
            // With more than one command in the mailbox, the bell has rung already.
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

    /// The loop on its own thread: listeners of sockets, and deadlines. Not `Sendable`: listeners have it only while they are called.
    final class SocketLoopThread {
        private static let batch = 128

        private let epoll: Int32
        private let bell: Int32
        private let mailbox: SocketLoop
        private var listeners: [SocketLoop.Token: any SocketListener] = [:]
        private var deadlines = DeadlineTable<SocketLoop.Token>()
        /// The listeners to be called once more. However often one asks, it is called once each time round.
        private var again: Set<SocketLoop.Token> = []

        /// Memory to read into, for the listener that is being called.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

        init(epoll: Int32, bell: Int32, mailbox: SocketLoop) {
            self.epoll = epoll
            self.bell = bell
            self.mailbox = mailbox
        }

        /// Stops listening. The socket may be closed then.
        func detach(_ token: SocketLoop.Token) {
            guard let listener = listeners.removeValue(forKey: token) else { return }
            deadlines.set(nil, for: token)
            _ = clinuxio_unwatch(epoll, listener.descriptor)
        }

        /// Calls the listener at this moment, in place of the one it named before.
        func setDeadline(_ deadline: ContinuousClock.Instant?, for token: SocketLoop.Token) { deadlines.set(deadline, for: token) }

        /// Calls the listener once more after the others had their turn.
        func callAgain(_ token: SocketLoop.Token) { again.insert(token) }

        func run() -> Never {
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.batch)
            while true {
                let count = Int(epoll_wait(epoll, events, Int32(Self.batch), timeout))
                // Taken first: those who ask from here on come after whatever has become ready meanwhile.
                let agains = again
                again = []
                for index in 0..<max(count, 0) { tell(events + index) }
                for token in agains { listeners[token]?.woken(on: self) }
                for command in mailbox.take() { perform(command) }
                for token in deadlines.due(at: .now) { listeners[token]?.deadlinePassed(on: self) }
            }
        }

        private func tell(_ event: UnsafePointer<epoll_event>) {
            let token = clinuxio_token(event)
            guard token != 0 else {
                // Rung by the mailbox, which is emptied each time round.
                var rings: UInt64 = 0
                _ = read(bell, &rings, MemoryLayout.size(ofValue: rings))
                return
            }
            // A listener that was detached earlier in the same batch gets no more events.
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

        /// Milliseconds until something is due; -1 where nothing is.
        private var timeout: Int32 {
            guard again.isEmpty else { return 0 }
            guard let earliest = deadlines.earliest else { return -1 }
            return ContinuousClock.now.duration(to: earliest).milliseconds
        }
    }

    /// Serves one socket, on the loop's thread only.
    protocol SocketListener: AnyObject {
        var descriptor: Int32 { get }
        /// The socket changed: it may take bytes again, and perhaps has some.
        /// - Parameter isEnding: the peer will send no more, or the connection is broken.
        func changed(isReadable: Bool, isEnding: Bool, on thread: SocketLoopThread)

        /// There is something to do, or the listener asked to be called again.
        func woken(on thread: SocketLoopThread)

        func deadlinePassed(on thread: SocketLoopThread)
        func failed(on thread: SocketLoopThread)
    }
#endif

struct DeadlineTable<Key: Hashable> {
    private var deadlines: [Key: ContinuousClock.Instant] = [:]
    /// No deadline is earlier. It may be too early, as nothing is searched when one is taken back.
    private(set) var earliest: ContinuousClock.Instant?

    /// Sets a key's deadline in place of the one it had; nil takes it back.
    mutating func set(_ deadline: ContinuousClock.Instant?, for key: Key) {
        deadlines[key] = deadline
        if deadlines.isEmpty {
            earliest = nil
        } else if let deadline {
            earliest = min(earliest ?? deadline, deadline)
        }
    }

    /// Removes and returns the keys whose deadline has come, earliest first.
    mutating func due(at now: ContinuousClock.Instant) -> [Key] {
        guard let earliest, earliest <= now else { return [] }
        let due = deadlines.filter { $0.value <= now }.sorted { $0.value < $1.value }.map(\.key)
        for key in due { deadlines[key] = nil }
        self.earliest = deadlines.values.min()
        return due
    }
}

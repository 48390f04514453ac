#if canImport(FoundationNetworking)
    import CLinuxIO
    import FeathersSupport
    import Foundation
    import Synchronization

    /// The single thread that serves all WebSockets of the process, as other threads see it: a mailbox. One thread with
    /// epoll handles twice as many messages as a dispatch source per socket. In addition, Dispatch on Linux loses
    /// events of reset sockets (swift-corelibs-libdispatch #949, #833).
    ///
    /// The loop belongs to the process: it exists only with its thread, which never ends.
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

        /// Whether the thread must be told about something in the mailbox.
        private enum Attention: UInt8, AtomicRepresentable {
            /// It looks before it waits.
            case awake
            /// It sleeps for a moment while messages gather, and then looks.
            case napping
            /// It waits, or is about to, without another look.
            case asleep
            case hasMail
        }

        /// The token of the bell. No listener uses it.
        static let bellToken: Token = 0

        private static let running = Locked<SocketLoop?>(nil)

        private let mailbox = Locked(Mailbox())
        private let attention = Atomic(Attention.awake)
        private let sent = Atomic<Int>(0)
        /// An event counter that wakes the thread. It is watched for changes, so its value is never read.
        private let bell: Int32

        private init(bell: Int32) { self.bell = bell }

        /// Returns the loop, which starts on first use and runs until the process ends.
        /// - Throws: An error if the system provides no thread or descriptors. The next call tries again.
        static func shared() throws(WebSocketError) -> SocketLoop {
            try running.withLock { running throws(WebSocketError) in
                if let running { return running }
                // The stack is deep, because handlers parse and release JSON on this thread, however deeply it is
                // nested.
                let loop = try start { NetworkThread.start("feathers-socket", isDeep: true, $0) }
                running = loop
                return loop
            }
        }

        /// Starts a loop on the thread that `startThread` creates, if it can.
        static func start(_ startThread: (@escaping @Sendable () -> Void) -> Bool) throws(WebSocketError) -> SocketLoop
        {
            let (epoll, bell) = (clinuxio_epoll_create(), clinuxio_event_create())
            let loop = SocketLoop(bell: bell)
            guard
                epoll >= 0, bell >= 0, clinuxio_watch(epoll, bell, bellToken) == 0,
                startThread({ SocketLoopThread(epoll: epoll, loop: loop).run() })
            else {
                for descriptor in [epoll, bell] where descriptor >= 0 { close(descriptor) }
                throw WebSocketError(.cannotConnect, "The system has no more threads or file descriptors available")
            }
            return loop
        }

        func newToken() -> Token {
            mailbox.withLock { mailbox in
                defer { mailbox.nextToken += 1 }
                return mailbox.nextToken
            }
        }

        /// Adds a command to the mailbox, and wakes the thread if it waits. Either the thread finds `hasMail` before it
        /// waits, or this call finds it asleep.
        func send(_ command: Command) {
            mailbox.withLock { $0.commands.append(command) }
            guard attention.exchange(.hasMail, ordering: .acquiringAndReleasing) == .asleep else { return }
            var one: UInt64 = 1
            _ = write(bell, &one, MemoryLayout.size(ofValue: one))
        }

        /// Notes that a message was sent.
        /// - Returns: Whether the thread looks at the mailbox before it waits, so that it can write the message with
        ///   others.
        func noteSending() -> Bool {
            sent.add(1, ordering: .relaxed)
            return attention.load(ordering: .relaxed) != .asleep
        }

        // MARK: On the loop's thread

        /// Returns the number of messages sent since the last call.
        func takeSent() -> Int { sent.exchange(0, ordering: .relaxed) }

        /// Sleeps for a moment, unless there is something in the mailbox.
        func nap(_ sleep: () -> Void = { usleep(ReadPace.nap) }) {
            let (isFree, _) = attention.compareExchange(expected: .awake, desired: .napping, ordering: .relaxed)
            guard isFree else { return }
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

        /// Empties the mailbox.
        func take() -> [Command] {
            mailbox.withLock { mailbox in
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
        }
    }
#endif

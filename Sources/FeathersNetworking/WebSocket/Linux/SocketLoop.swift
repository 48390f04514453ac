#if canImport(FoundationNetworking)
    import CLinuxIO
    import FeathersSupport
    import Foundation

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

        /// The token of the bell. No listener uses it.
        static let bellToken: Token = 0

        private static let running = Locked<SocketLoop?>(nil)

        private let mailbox = Locked(Mailbox())
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

        /// Adds a command to the mailbox. Only the first command in an empty mailbox wakes the thread, which then takes
        /// all of them.
        func send(_ command: Command) {
            let isFirst = mailbox.withLock { mailbox in
                mailbox.commands.append(command)
                return mailbox.commands.count == 1
            }
            guard isFirst else { return }
            var one: UInt64 = 1
            _ = write(bell, &one, MemoryLayout.size(ofValue: one))
        }

        /// Empties the mailbox.
        func take() -> [Command] {
            mailbox.withLock { mailbox in
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
        }
    }
#endif

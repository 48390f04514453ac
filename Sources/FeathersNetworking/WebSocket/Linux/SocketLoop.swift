import FeathersSupport

#if os(Linux)
    import FeathersCore
    import CLinuxIO
    import Foundation

    /// The one thread that waits for all WebSockets of the process, as seen from other threads: a mailbox.
    ///
    /// One thread with epoll serves twice as many messages as a dispatch source for each socket, and Dispatch on Linux loses events of
    /// sockets that were reset (swift-corelibs-libdispatch #949, #833).
    final class SocketLoop: Sendable {
        typealias Token = UInt64

        enum Command: Sendable {
            /// Watches a socket from here on; what serves it is made on the loop's own thread and stays there.
            case attach(Token, make: @Sendable () -> any SocketListener)
            /// Tells a listener that somebody left something for it.
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

        private init(bell: Int32) {
            self.bell = bell
        }

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
            // With more than one in the box, somebody has rung already.
            guard isFirst else { return }
            var one: UInt64 = 1
            _ = write(bell, &one, MemoryLayout.size(ofValue: one))
        }

        /// What has come in, in order.
        func take() -> [Command] {
            mailbox.withLock { mailbox in
                guard !mailbox.commands.isEmpty else { return [] }
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
        }
    }
#endif

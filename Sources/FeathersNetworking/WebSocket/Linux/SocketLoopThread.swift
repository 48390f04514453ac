#if os(Linux)
    import CLinuxIO
    import Foundation

    /// The loop as its own thread sees it: who listens to which socket, and what is due when.
    ///
    /// Not `Sendable`: it is made on the thread and handed to listeners only while they are called.
    final class SocketLoopThread {
        private static let batch = 128

        private let epoll: Int32
        private let bell: Int32
        private let mailbox: SocketLoop
        private var listeners: [SocketLoop.Token: any SocketListener] = [:]
        private var deadlines = DeadlineTable<SocketLoop.Token>()
        private var again: [SocketLoop.Token] = []

        /// Memory to read into, for whoever is being called.
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
        func setDeadline(_ deadline: ContinuousClock.Instant?, for token: SocketLoop.Token) {
            deadlines.set(deadline, for: token)
        }

        /// Calls the listener once more after the others had their turn.
        func callAgain(_ token: SocketLoop.Token) {
            again.append(token)
        }

        func run() -> Never {
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.batch)
            while true {
                let count = Int(epoll_wait(epoll, events, Int32(Self.batch), timeout))
                for index in 0..<max(count, 0) {
                    tell(events + index)
                }
                let agains = again
                again = []
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
            // An event of one who has just left in the same batch finds nobody.
            let (isReadable, isEnding) = (clinuxio_is_readable(event) != 0, clinuxio_is_ending(event) != 0)
            listeners[token]?.changed(isReadable: isReadable, isEnding: isEnding, on: self)
        }

        private func perform(_ command: SocketLoop.Command) {
            switch command {
            case .attach(let token, let make):
                let listener = make()
                listeners[token] = listener
                if clinuxio_watch(epoll, listener.descriptor, token) != 0 { listener.failed(on: self) }
            case .wake(let token):
                listeners[token]?.woken(on: self)
            case .call(let body):
                body()
            }
        }

        /// Milliseconds until something is due; -1 where nothing is.
        private var timeout: Int32 {
            guard again.isEmpty else { return 0 }
            guard let earliest = deadlines.earliest else { return -1 }
            return ContinuousClock.now.duration(to: earliest).milliseconds
        }
    }
#endif

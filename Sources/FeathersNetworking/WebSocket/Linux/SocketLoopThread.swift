#if canImport(FoundationNetworking)
    import CLinuxIO
    import FeathersSupport
    import Foundation

    /// The loop on its own thread: socket listeners and deadlines. Not `Sendable`: listeners can access it only while
    /// they are called.
    final class SocketLoopThread {
        private static let batch = 128

        private let epoll: Int32
        private let loop: SocketLoop
        private var listeners: [SocketLoop.Token: any SocketListener] = [:]
        private var deadlines = DeadlineTable<SocketLoop.Token>()
        /// The listeners to call again. Each is called at most once per iteration, however often it requests this.
        private var again: Set<SocketLoop.Token> = []
        private var pace = ReadPace()
        /// The number of messages read in this turn.
        var messages = 0

        /// The read buffer for the listener that is being called.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

        init(epoll: Int32, loop: SocketLoop) {
            self.epoll = epoll
            self.loop = loop
        }

        /// Stops listening. After that, the socket may be closed.
        func detach(_ token: SocketLoop.Token) {
            guard let listener = listeners.removeValue(forKey: token) else { return }
            deadlines.set(nil, for: token)
            _ = clinuxio_unwatch(epoll, listener.descriptor)
        }

        /// Sets the time at which to call the listener, replacing any previous deadline.
        func setDeadline(_ deadline: ContinuousClock.Instant?, for token: SocketLoop.Token) {
            deadlines.set(deadline, for: token)
        }

        /// Calls the listener again after the other listeners have been served.
        func callAgain(_ token: SocketLoop.Token) { again.insert(token) }

        func run() -> Never {
            let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.batch)
            while true {
                var timeout = timeout
                if timeout != 0 {
                    let now = ContinuousClock.now
                    let naps = pace.naps(at: now, read: messages, sent: loop.takeSent())
                    messages = 0
                    if naps, deadlines.earliest.map({ now.advanced(by: .milliseconds(1)) < $0 }) ?? true { loop.nap() }
                    if !loop.fallAsleep() { timeout = 0 }
                }
                let count = Int(epoll_wait(epoll, events, Int32(Self.batch), timeout))
                let hasMail = loop.wakeUp()
                // Taken first: later requests are served after any events that become ready in the meantime.
                let agains = again
                again = []
                // The bell has no listener: the mailbox is looked at in every turn.
                for index in 0..<max(count, 0) { tell(events + index) }
                for token in agains { listeners[token]?.woken(on: self) }
                if hasMail { for command in loop.take() { perform(command) } }
                if deadlines.earliest != nil {
                    for token in deadlines.due(at: .now) { listeners[token]?.deadlinePassed(on: self) }
                }
            }
        }

        private func tell(_ event: UnsafePointer<epoll_event>) {
            // A listener detached earlier in the same batch receives no more events.
            guard let listener = listeners[clinuxio_token(event)] else { return }
            let (isReadable, isWritable) = (clinuxio_is_readable(event) != 0, clinuxio_is_writable(event) != 0)
            listener.changed(
                isReadable: isReadable, isWritable: isWritable, isEnding: clinuxio_is_ending(event) != 0, on: self)
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
        /// The socket to watch for all changes.
        var descriptor: Int32 { get }
        /// Handles a change of the socket, which may have bytes to read, or be writable again. `isEnding` means that
        /// the peer will send nothing more, or that the connection is broken.
        func changed(isReadable: Bool, isWritable: Bool, isEnding: Bool, on thread: SocketLoopThread)

        /// Handles a wake-up from another thread, or the call that the listener requested.
        func woken(on thread: SocketLoopThread)

        func deadlinePassed(on thread: SocketLoopThread)
        func failed(on thread: SocketLoopThread)
    }
#endif

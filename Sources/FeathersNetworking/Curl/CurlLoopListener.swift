#if os(Linux)
    import CCurl

    /// A client's transfers on the network thread, which waits for libcurl's sockets and its timer. Not `Sendable`: it lives on that thread only.
    final class CurlLoopListener: SocketListener {
        /// One of libcurl's sockets. It remains for later connections with the same number.
        private final class Socket: SocketListener {
            let descriptor: Int32?
            let token: SocketLoop.Token
            private unowned let owner: CurlLoopListener

            init(_ descriptor: Int32, _ token: SocketLoop.Token, _ owner: CurlLoopListener) {
                (self.descriptor, self.token, self.owner) = (descriptor, token, owner)
            }

            func changed(isReadable: Bool, isWritable: Bool, isEnding: Bool, on thread: SocketLoopThread) {
                guard let descriptor else { return }
                let ready = (isReadable ? CURL_CSELECT_IN : 0) | (isWritable ? CURL_CSELECT_OUT : 0)
                owner.work(on: thread) { $0.perform(on: descriptor, ready | (isEnding ? CURL_CSELECT_ERR : 0)) }
            }

            func woken(on thread: SocketLoopThread) {}
            func turnEnded(on thread: SocketLoopThread) {}
            func deadlinePassed(on thread: SocketLoopThread) {}
            func failed(on thread: SocketLoopThread) {}
        }

        /// The number of times that libcurl's timer is served before other connections are.
        private static let timersPerTurn = 8

        let descriptor: Int32? = nil
        /// Nil after the end.
        private var multi: CurlMulti?
        private let driver: CurlDriver
        private let loop: SocketLoop
        private let token: SocketLoop.Token
        private var sockets: [Int32: Socket] = [:]
        /// When libcurl wants to be called next, unless a socket is ready before then.
        private var timer: ContinuousClock.Instant?
        private var isDue = false
        private var deadline: ContinuousClock.Instant?
        /// The thread, for libcurl's callbacks; nil outside of calls to libcurl.
        private var thread: SocketLoopThread?
        private var hasFailed = false

        init(_ multi: CurlMulti, driver: CurlDriver, _ loop: SocketLoop, _ token: SocketLoop.Token) {
            (self.multi, self.driver, self.loop, self.token) = (multi, driver, loop, token)
            // Libcurl holds this object unretained, and calls it only from calls that this object makes. `end` removes the callbacks.
            ccurl_multi_set_callbacks(
                multi.multi,
                { _, descriptor, what, context, _ in
                    CurlLoopListener.at(context).watch(descriptor, what)
                    return 0
                },
                { _, milliseconds, context in
                    CurlLoopListener.at(context).setTimer(milliseconds)
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }

        private static func at(_ context: UnsafeMutableRawPointer?) -> CurlLoopListener {
            Unmanaged.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
        }

        private func watch(_ descriptor: Int32, _ what: Int32) {
            guard let thread else { return }
            let socket = sockets[descriptor] ?? Socket(descriptor, loop.newToken(), self)
            sockets[descriptor] = socket
            if what == CURL_POLL_REMOVE { return thread.detach(socket.token) }
            let (reads, writes) = (what & CURL_POLL_IN != 0, what & CURL_POLL_OUT != 0)
            if !thread.watch(descriptor, for: socket, socket.token, reads: reads, writes: writes) { hasFailed = true }
        }

        private func setTimer(_ milliseconds: Int) {
            isDue = milliseconds == 0
            timer = milliseconds > 0 ? .now.advanced(by: .milliseconds(milliseconds)) : nil
        }

        func changed(isReadable: Bool, isWritable: Bool, isEnding: Bool, on thread: SocketLoopThread) {}
        func woken(on thread: SocketLoopThread) { work(on: thread) }
        func turnEnded(on thread: SocketLoopThread) { work(on: thread) }
        func failed(on thread: SocketLoopThread) {}

        func deadlinePassed(on thread: SocketLoopThread) {
            deadline = nil
            isDue = true
            work(on: thread)
        }

        /// Executes the commands of the driver, then `body`, then what is due.
        private func work(on thread: SocketLoopThread, _ body: (CurlMulti) -> Bool = { _ in true }) {
            guard let multi else { return }
            let commands = driver.takeOnLoop()
            self.thread = thread
            let continues = BrokenPipeSignal.swallowed {
                if let commands {
                    for command in commands { multi.execute(command) }
                } else {
                    multi.endAll(with: HTTPClientError.clientClosed)
                }
                guard body(multi) else { return false }
                for _ in 0..<Self.timersPerTurn where isDue {
                    isDue = false
                    guard multi.perform(on: CURL_SOCKET_TIMEOUT, 0) else { return false }
                }
                return !hasFailed
            }
            self.thread = nil
            thread.messages += multi.takePieces()
            // Until it has the result of a resolver that it must wait for, a closed client remains.
            guard continues, commands != nil || multi.isResolving else { return end(multi, on: thread) }
            if isDue { thread.callAgain(token) }
            let next = [timer, multi.earliestDeadline].compactMap(\.self).min()
            if next != deadline { thread.setDeadline(next, for: token) }
            deadline = next
        }

        /// Ends, because the client was closed. Or because libcurl is out of memory or file descriptors: no transfer can make progress, but every
        /// caller must be resumed.
        private func end(_ last: consuming CurlMulti, on thread: SocketLoopThread) {
            driver.close()
            for socket in sockets.values { thread.detach(socket.token) }
            thread.detach(token)
            ccurl_multi_set_callbacks(last.multi, nil, nil, nil)
            BrokenPipeSignal.swallowed { last.endAll(with: HTTPClientError.clientClosed) }
            multi = nil
        }
    }
#endif

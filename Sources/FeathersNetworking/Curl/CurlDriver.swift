import FeathersSupport

#if os(Linux)
    import CCurl
    import Foundation

    /// The thread that drives a client's transfers, and its mailbox. The thread starts with the first exchange and ends with ``close()``.
    /// It holds a reference to the driver, not to the client, so that releasing the client can end the thread.
    ///
    /// After ``joinNetworkThread()``, exchanges that access no files run on the network thread instead. Files stay here, because a disk may block.
    final class CurlDriver: Sendable {
        enum Command: Sendable {
            case start(CurlExchange)
            case abandon(CurlExchange)
            case resume(CurlExchange)
            case cancelAll
        }

        private enum Phase: Sendable {
            case resting
            case running(WakeableMulti)
            case closed
        }

        private struct Mailbox: Sendable {
            var phase = Phase.resting
            var generation = 0
            var commands: [Command] = []
            /// The network thread, once joined, the token of the listener there, and the commands for it.
            var loop: (SocketLoop, SocketLoop.Token)?
            var loopCommands: [Command] = []
        }

        private let settings: CurlSettings
        private let mailbox = Locked(Mailbox())

        init(_ settings: CurlSettings) { self.settings = settings }

        /// Identifies the exchanges that the next ``cancelAll()`` ends: those that start with this number.
        var generation: Int { mailbox.withLock { $0.generation } }

        /// Starts an exchange. If that isn't possible, the exchange ends with an error.
        func start(_ exchange: CurlExchange) {
            let failure: HTTPClientError? = mailbox.withLock { mailbox in
                guard exchange.generation == mailbox.generation else { return .allCancelled(host: exchange.host, delivery: .neverSent) }
                if case .closed = mailbox.phase { return .clientClosed(host: exchange.host, delivery: .neverSent) }
                if !exchange.accessesFiles, putOnLoop(.start(exchange), into: &mailbox) { return nil }
                if case .resting = mailbox.phase {
                    guard let wakeable = makeMulti() else {
                        return HTTPClientError(.other, "libcurl is out of memory", delivery: .neverSent)
                    }
                    guard NetworkThread.start("feathers-http", isDeep: true, { self.run(wakeable) }) else {
                        curl_multi_cleanup(wakeable.multi)
                        return HTTPClientError(.other, "The system could not start another thread", delivery: .neverSent)
                    }
                    mailbox.phase = .running(wakeable)
                }
                guard put(.start(exchange), into: &mailbox) else { return .clientClosed(host: exchange.host, delivery: .neverSent) }
                return nil
            }
            if let failure { exchange.finish(.failure(failure)) }
        }

        /// Drops an exchange whose caller has already been resumed.
        func abandon(_ exchange: CurlExchange) { mailbox.withLock { mailbox in putOnBoth(.abandon(exchange), into: &mailbox) } }

        /// Continues an exchange that was paused by its reader, or by the stream of its body.
        func resume(_ exchange: CurlExchange) { mailbox.withLock { mailbox in putOnBoth(.resume(exchange), into: &mailbox) } }

        /// Ends everything in flight, including redirects that have not been followed yet.
        func cancelAll() {
            let unstarted: [CurlExchange] = mailbox.withLock { mailbox in
                mailbox.generation += 1
                let starts: [CurlExchange] = (mailbox.commands + mailbox.loopCommands).compactMap {
                    if case .start(let exchange) = $0 { exchange } else { nil }
                }
                mailbox.commands.removeAll { if case .start = $0 { true } else { false } }
                mailbox.loopCommands.removeAll { if case .start = $0 { true } else { false } }
                putOnBoth(.cancelAll, into: &mailbox)
                return starts
            }
            for exchange in unstarted { exchange.finish(.failure(.allCancelled(host: exchange.host, delivery: .neverSent))) }
        }

        /// Ends the thread. Exchanges in flight fail, and so do all later ones.
        func close() {
            let leftOver: [Command] = mailbox.withLock { mailbox in
                if case .running(let wakeable) = mailbox.phase { curl_multi_wakeup(wakeable.multi) }
                mailbox.phase = .closed
                if let (loop, token) = mailbox.loop { loop.send(.wake(token)) }
                defer { (mailbox.commands, mailbox.loopCommands) = ([], []) }
                return mailbox.commands + mailbox.loopCommands
            }
            for case .start(let exchange) in leftOver {
                exchange.finish(.failure(.clientClosed(host: exchange.host, delivery: .neverSent)))
            }
        }

        /// Wakes the thread while holding the lock, because the thread takes the lock once more before it frees the multi handle.
        private func put(_ command: Command, into mailbox: inout Mailbox) -> Bool {
            guard case .running(let wakeable) = mailbox.phase else { return false }
            mailbox.commands.append(command)
            // If the mailbox already held a command, the thread has already been woken.
            if mailbox.commands.count == 1 { curl_multi_wakeup(wakeable.multi) }
            return true
        }

        // MARK: On the network thread

        /// Runs later exchanges on the network thread, except those that access files.
        /// - Returns: The thread; nil if the system cannot start it.
        func joinNetworkThread() -> SocketLoop? {
            guard let loop = try? SocketLoop.shared() else { return nil }
            let token = loop.newToken()
            mailbox.withLock { mailbox in
                if case .closed = mailbox.phase { return }
                // Out of memory, the exchanges stay where they are.
                guard mailbox.loop == nil, let wakeable = makeMulti() else { return }
                mailbox.loop = (loop, token)
                loop.send(.attach(token) { CurlLoopListener(CurlMulti(wakeable.multi, self.settings), driver: self, loop, token) })
            }
            return loop
        }

        private func putOnLoop(_ command: Command, into mailbox: inout Mailbox) -> Bool {
            guard let (loop, token) = mailbox.loop else { return false }
            mailbox.loopCommands.append(command)
            if case .start = command { loop.noteWrite() }
            guard mailbox.loopCommands.count == 1 else { return true }
            if loop.isCurrent { loop.callAtEndOfTurn(token) } else { loop.send(.wake(token)) }
            return true
        }

        /// Each thread ignores exchanges that it doesn't know.
        private func putOnBoth(_ command: Command, into mailbox: inout Mailbox) {
            _ = put(command, into: &mailbox)
            _ = putOnLoop(command, into: &mailbox)
        }

        /// Returns the commands for the network thread, or nil once the driver is closed.
        func takeOnLoop() -> [Command]? {
            mailbox.withLock { mailbox in
                if case .closed = mailbox.phase { return nil }
                defer { mailbox.loopCommands = [] }
                return mailbox.loopCommands
            }
        }

        private func makeMulti() -> WakeableMulti? {
            guard let multi = curl_multi_init() else { return nil }
            ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, settings.maximumConnectionsPerHost)
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, settings.maximumConnectionsPerHost)
            return WakeableMulti(multi: multi)
        }

        private func run(_ wakeable: WakeableMulti) {
            let multi = CurlMulti(wakeable.multi, settings)
            var commands: [Command] = []
            var moderation = ReadModeration()
            while take(&commands) {
                let hasCommands = !commands.isEmpty
                for command in commands { multi.execute(command) }
                // Before the thread sleeps, so that it holds on to no exchange.
                commands.removeAll(keepingCapacity: true)
                guard multi.perform() else { return giveUp(multi) }
                // The pieces of event streams gather as messages of WebSockets do.
                if moderation.sleeps(at: .now, messages: multi.takePieces(), hasWritten: hasCommands) { usleep(ReadModeration.bodyNap) }
                guard multi.wait() else { return giveUp(multi) }
            }
            multi.endAll(with: HTTPClientError.clientClosed)
        }

        /// Ends all exchanges, because without memory or file descriptors none of them can make progress.
        private func giveUp(_ multi: CurlMulti) {
            close()
            multi.endAll(with: HTTPClientError.clientClosed)
        }

        /// Exchanges an empty array for the commands in the mailbox, which keeps that array's memory.
        /// - Returns: False once the driver is closed. After that, the multi handle is no longer woken.
        private func take(_ commands: inout [Command]) -> Bool {
            mailbox.withLock { mailbox in
                guard case .running = mailbox.phase else { return false }
                swap(&mailbox.commands, &commands)
                return true
            }
        }
    }
#endif

import FeathersSupport

#if canImport(FoundationNetworking)
    import CCurl
    import Foundation
    import Synchronization

    /// The thread that drives the transfers of clients, and its mailbox. The thread starts with the first exchange and
    /// ends with ``close()``. It holds a reference to the driver, not to a client, so that releasing the last client can
    /// end the thread.
    final class CurlDriver: Sendable {
        enum Command: Sendable {
            case start(CurlExchange)
            case abandon(CurlExchange)
            case resume(CurlExchange)
            case end(CurlRound, CurlRound.End)
        }

        private enum Phase: Sendable {
            case resting
            case running(WakeableMulti)
            case closed
        }

        private struct Mailbox: Sendable {
            var phase = Phase.resting
            var commands: [Command] = []
        }

        private let settings: CurlSettings
        private let mailbox = Locked(Mailbox())
        private let waiting = Atomic<Int>(0)

        init(_ settings: CurlSettings) { self.settings = settings }

        /// The number of requests that wait for a connection.
        var waitingCount: Int { waiting.load(ordering: .relaxed) }

        var isClosed: Bool { mailbox.withLock { if case .closed = $0.phase { true } else { false } } }

        /// Starts an exchange. If that isn't possible, the exchange ends with an error.
        func start(_ exchange: CurlExchange) {
            let failure: HTTPClientError? = mailbox.withLock { mailbox in
                if let end = exchange.round.end.withLock({ $0 }) { return end(exchange.host, .neverSent) }
                if case .resting = mailbox.phase {
                    guard let wakeable = makeMulti() else {
                        return HTTPClientError(.other, "libcurl is out of memory", delivery: .neverSent)
                    }
                    // The stack is deep, because readers parse and release JSON on this thread, however deeply it is
                    // nested (``HTTPBodyPipe/forEach(_:)``).
                    guard NetworkThread.start("feathers-http", isDeep: true, { self.run(wakeable) }) else {
                        curl_multi_cleanup(wakeable.multi)
                        return HTTPClientError(
                            .other, "The system could not start another thread", delivery: .neverSent)
                    }
                    mailbox.phase = .running(wakeable)
                }
                guard put(.start(exchange), into: &mailbox) else {
                    return .clientClosed(host: exchange.host, delivery: .neverSent)
                }
                return nil
            }
            if let failure { exchange.finish(.failure(failure)) }
        }

        /// Drops an exchange whose caller has already been resumed.
        func abandon(_ exchange: CurlExchange) { put(.abandon(exchange)) }

        /// Continues an exchange that was paused by its reader, or by the stream of its body.
        func resume(_ exchange: CurlExchange) { put(.resume(exchange)) }

        /// Ends the exchanges of a round, including redirects that have not been followed yet.
        func end(_ round: CurlRound, with end: @escaping CurlRound.End) {
            mailbox.withLock { mailbox in
                round.end.withLock { $0 = $0 ?? end }
                _ = put(.end(round, end), into: &mailbox)
            }
        }

        /// Ends the thread. Exchanges in flight fail, and so do all later ones.
        func close() {
            let leftOver: [Command] = mailbox.withLock { mailbox in
                if case .running(let wakeable) = mailbox.phase { curl_multi_wakeup(wakeable.multi) }
                mailbox.phase = .closed
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
            for case .start(let exchange) in leftOver {
                exchange.finish(.failure(.clientClosed(host: exchange.host, delivery: .neverSent)))
            }
        }

        private func put(_ command: Command) { mailbox.withLock { mailbox in _ = put(command, into: &mailbox) } }

        /// Returns whether the thread takes the command, which it does unless it has not started or was closed.
        ///
        /// Wakes the thread while holding the lock, because the thread takes the lock once more before it frees the
        /// multi handle.
        private func put(_ command: Command, into mailbox: inout Mailbox) -> Bool {
            guard case .running(let wakeable) = mailbox.phase else { return false }
            mailbox.commands.append(command)
            // If the mailbox already held a command, the thread has already been woken.
            if mailbox.commands.count == 1 { curl_multi_wakeup(wakeable.multi) }
            return true
        }

        private func makeMulti() -> WakeableMulti? {
            guard let multi = curl_multi_init() else { return nil }
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, settings.maximumConnectionsPerHost)
            return WakeableMulti(multi: multi)
        }

        private func run(_ wakeable: WakeableMulti) {
            let multi = CurlMulti(wakeable.multi, settings) { self.waiting.store($0, ordering: .relaxed) }
            var commands: [Command] = []
            while take(&commands) {
                for command in commands { multi.execute(command) }
                // Emptied before the thread waits, so that no exchange stays alive during the wait.
                commands.removeAll(keepingCapacity: true)
                guard multi.perform(), multi.wait() else { return giveUp(multi) }
            }
            multi.end(with: HTTPClientError.clientClosed)
        }

        /// Ends all exchanges, because without memory or file descriptors none of them can make progress.
        private func giveUp(_ multi: CurlMulti) {
            close()
            multi.end(with: HTTPClientError.clientClosed)
        }

        /// Takes the commands from the mailbox, and leaves an empty array whose memory is reused.
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

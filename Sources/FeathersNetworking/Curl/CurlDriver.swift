import FeathersSupport

#if os(Linux)
    import FeathersCore
    import CCurl
    import Foundation

    /// The thread that drives a client's transfers, and the mailbox in front of it.
    ///
    /// The thread starts with the first exchange and ends with ``close()``. It holds the driver, not the client, so that a dropped client
    /// can end it.
    final class CurlDriver: Sendable {
        private enum Command: Sendable {
            case start(CurlExchange)
            case abandon(CurlExchange)
        }

        /// A multi handle that other threads may wake.
        ///
        /// Unchecked: `curl_multi_wakeup` is the one call libcurl allows from every thread; everything else is done by the driver's
        /// thread, which is handed the pointer once.
        private struct Wakeable: @unchecked Sendable {
            let multi: UnsafeMutableRawPointer
        }

        private enum Phase: Sendable {
            case resting
            case running(Wakeable)
            case closed
        }

        private struct Mailbox: Sendable {
            var phase = Phase.resting
            var commands: [Command] = []
            var ended: (@Sendable () -> Void)?
        }

        private let configuration: CurlHTTPClient.Configuration
        private let mailbox = Locked(Mailbox())

        init(_ configuration: CurlHTTPClient.Configuration) {
            self.configuration = configuration
        }

        deinit {
            mailbox.withLock { $0.ended }?()
        }

        /// Calls `ended` when the driver has ended with its thread, for tests.
        func onEnd(_ ended: @escaping @Sendable () -> Void) {
            mailbox.withLock { $0.ended = ended }
        }

        /// Hands an exchange over; where that is impossible, it ends with an error.
        func start(_ exchange: CurlExchange) {
            let failure: HTTPClientError? = mailbox.withLock { mailbox in
                if case .resting = mailbox.phase {
                    guard let wakeable = makeMulti() else {
                        return HTTPClientError(.other, "libcurl is out of memory", delivery: .neverSent)
                    }
                    mailbox.phase = .running(wakeable)
                    startThread(wakeable)
                }
                guard put(.start(exchange), into: &mailbox) else {
                    return HTTPClientError(.closed, "The HTTP client was closed", delivery: .neverSent)
                }
                return nil
            }
            if let failure { exchange.finish(.failure(failure)) }
        }

        /// Gives an exchange up whose caller has been resumed already.
        func abandon(_ exchange: CurlExchange) {
            mailbox.withLock { mailbox in
                _ = put(.abandon(exchange), into: &mailbox)
            }
        }

        /// Ends the thread; what is under way fails, and so does everything handed over later.
        func close() {
            let leftOver: [Command] = mailbox.withLock { mailbox in
                if case .running(let wakeable) = mailbox.phase { curl_multi_wakeup(wakeable.multi) }
                mailbox.phase = .closed
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
            fail(leftOver, with: HTTPClientError(.closed, "The HTTP client was closed", delivery: .neverSent))
        }

        /// Waking is inside the lock: the thread takes the lock once more before it frees the multi handle.
        private func put(_ command: Command, into mailbox: inout Mailbox) -> Bool {
            guard case .running(let wakeable) = mailbox.phase else { return false }
            mailbox.commands.append(command)
            // With more than one in the box, somebody has woken the thread already.
            if mailbox.commands.count == 1 { curl_multi_wakeup(wakeable.multi) }
            return true
        }

        private func makeMulti() -> Wakeable? {
            guard let multi = curl_multi_init() else { return nil }
            ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maximumConnectionsPerHost)
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumConnectionsPerHost)
            return Wakeable(multi: multi)
        }

        private func startThread(_ wakeable: Wakeable) {
            let thread = Thread { self.run(wakeable) }
            thread.name = "feathers-http"
            thread.stackSize = 512 * 1024
            thread.start()
        }

        private func run(_ wakeable: Wakeable) {
            Self.blockBrokenPipeSignals()
            let multi = CurlMulti(wakeable.multi, configuration)
            while let commands = take() {
                for command in commands {
                    switch command {
                    case .start(let exchange): multi.start(exchange)
                    case .abandon(let exchange): multi.abandon(exchange)
                    }
                }
                guard multi.perform(), multi.wait() else {
                    // Out of memory or descriptors: nothing can be driven any more, but nobody must wait for ever.
                    close()
                    break
                }
            }
            multi.close { transfer in
                HTTPClientError(
                    .closed, "The HTTP client was closed", host: transfer.exchange?.host,
                    delivery: transfer.isSent ? .mayHaveExecuted : .neverSent)
            }
        }

        /// What has come in; nil once closed, after which nobody wakes the multi handle any more.
        private func take() -> [Command]? {
            mailbox.withLock { mailbox in
                guard case .running = mailbox.phase else { return nil }
                defer { mailbox.commands = [] }
                return mailbox.commands
            }
        }

        private func fail(_ commands: [Command], with error: HTTPClientError) {
            for case .start(let exchange) in commands { exchange.finish(.failure(error)) }
        }

        /// Up to libcurl 7.81, TLS writes to a connection that was reset raise SIGPIPE in spite of `CURLOPT_NOSIGNAL`.
        private static func blockBrokenPipeSignals() {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        }
    }
#endif

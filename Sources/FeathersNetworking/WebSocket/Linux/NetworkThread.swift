#if canImport(FoundationNetworking)
    import CLinuxIO
    import Dispatch
    import Foundation

    /// Dedicated threads for blocking calls.
    enum NetworkThread {
        private final class Body: Sendable {
            let name: String
            let run: @Sendable () -> Void

            init(_ name: String, _ run: @escaping @Sendable () -> Void) {
                self.name = name
                self.run = run
            }
        }

        private static let smallStackSize = 512 * 1024
        /// As deep as the stacks of the pool's threads. Untouched pages take no memory.
        private static let deepStackSize = 8 << 20

        /// Starts a detached thread. Returns `false` on failure, which `Thread` does not report.
        /// - Parameter isDeep: Whether the thread parses or releases deeply nested values.
        static func start(_ name: String, isDeep: Bool = false, _ run: @escaping @Sendable () -> Void) -> Bool {
            let body = Unmanaged.passRetained(Body(name, run))
            // libcurl's TLS needs a moderate stack. The default of 8 MB per thread is too much when many connections
            // open at once.
            let isStarted = clinuxio_start_thread(
                isDeep ? deepStackSize : smallStackSize,
                { context in
                    guard let context else { return nil }
                    let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                    BrokenPipeSignal.block()
                    clinuxio_name_thread(body.name)
                    body.run()
                    return nil
                }, body.toOpaque())
            guard isStarted != 0 else {
                body.release()
                return false
            }
            return true
        }
    }

    /// SIGPIPE, which libcurl up to 7.86 raises when it writes TLS to a reset connection, despite `CURLOPT_NOSIGNAL`.
    /// Unhandled, the signal terminates the process.
    enum BrokenPipeSignal {
        private static let isRaised: Bool = {
            guard case .success(let version) = Libcurl.version else { return false }
            return version < 0x07_57_00
        }()

        /// Blocks the signal permanently on this thread. Only for threads that run nothing but this module's code.
        static func block() {
            var signals = set
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        }

        /// Calls `body` on a thread that also runs other code, and discards any signal raised in the meantime.
        static func swallowed<Result>(_ body: () -> Result) -> Result {
            guard isRaised else { return body() }
            var signals = set
            var former = sigset_t()
            pthread_sigmask(SIG_BLOCK, &signals, &former)
            let result = body()
            if sigismember(&former, SIGPIPE) == 0 {
                var atOnce = timespec()
                while sigtimedwait(&signals, nil, &atOnce) >= 0 {}
                pthread_sigmask(SIG_SETMASK, &former, nil)
            }
            return result
        }

        private static var set: sigset_t {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            return signals
        }
    }
#endif

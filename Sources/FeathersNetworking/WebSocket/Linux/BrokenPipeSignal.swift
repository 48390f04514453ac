#if os(Linux)
    import Foundation

    /// SIGPIPE, which libcurl up to 7.86 raises when it writes TLS to a connection that was reset, in spite of `CURLOPT_NOSIGNAL`; unhandled,
    /// it ends the process.
    enum BrokenPipeSignal {
        private static let isRaised: Bool = {
            guard case .success(let version) = Libcurl.version else { return false }
            return version < 0x07_57_00
        }()

        /// Blocks it on this thread for good: for threads of our own.
        static func block() {
            var signals = set
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        }

        /// Calls `body` on a thread that is not ours: what is raised meanwhile is taken away again.
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

#if os(Linux)
    import CLinuxIO
    import Dispatch
    import Foundation

    /// Threads of our own, for calls that block.
    enum NetworkThread {
        private final class Body: Sendable {
            let name: String
            let run: @Sendable () -> Void

            init(_ name: String, _ run: @escaping @Sendable () -> Void) {
                self.name = name
                self.run = run
            }
        }

        /// Starts a detached thread with SIGPIPE blocked; false where the system has no more threads, which `Thread` does not report.
        static func start(_ name: String, _ run: @escaping @Sendable () -> Void) -> Bool {
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            // libcurl's TLS needs some; the usual 8 MB a thread are not for many connections opened at once.
            pthread_attr_setstacksize(&attributes, 512 * 1024)
            let body = Unmanaged.passRetained(Body(name, run))
            var thread = pthread_t()
            let result = pthread_create(
                &thread, &attributes,
                { context in
                    guard let context else { return nil }
                    BrokenPipeSignal.block()
                    let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                    clinuxio_name_thread(body.name)
                    body.run()
                    return nil
                }, body.toOpaque())
            guard result == 0 else {
                body.release()
                return false
            }
            return true
        }
    }

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

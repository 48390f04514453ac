#if os(Linux)
    import CLinuxIO
    import Dispatch
    import Foundation

    /// Threads of our own, for calls that wait.
    enum NetworkThread {
        private final class Body: Sendable {
            let name: String
            let run: @Sendable () -> Void

            init(_ name: String, _ run: @escaping @Sendable () -> Void) {
                self.name = name
                self.run = run
            }
        }

        /// Starts a thread that nobody joins and that SIGPIPE does not reach.
        /// - Returns: false where the system grants no more threads; `Thread` would not say.
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
#endif

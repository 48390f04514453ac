public import Foundation

#if os(macOS) || os(Linux)
    /// Starts programs that inherit no descriptors, no blocked signals and no handlers.
    public enum SpawnedProcess {
        #if canImport(Darwin)
            public typealias FileActions = posix_spawn_file_actions_t?
        #else
            public typealias FileActions = posix_spawn_file_actions_t
        #endif

        /// Starts a program.
        /// - Parameters:
        ///   - words: The path of the program, and its arguments.
        ///   - variables: Its environment, each as `name=value`.
        ///   - inGroup: Whether it leads a process group of its own instead of a session. A session's first terminal
        ///     controls it.
        ///   - prepare: Adds what becomes its standard streams.
        /// - Returns: The number of the process, for `waitpid`.
        public static func start(
            _ words: [String], _ variables: [String], inGroup: Bool, prepare: (inout FileActions) throws -> Void
        ) throws -> pid_t {
            #if canImport(Darwin)
                var (actions, attributes): (FileActions, posix_spawnattr_t?) = (nil, nil)
                let session = POSIX_SPAWN_SETSID
                var flags = POSIX_SPAWN_CLOEXEC_DEFAULT
            #else
                var (actions, attributes) = (FileActions(), posix_spawnattr_t())
                // `POSIX_SPAWN_SETSID`, which Glibc's module hides.
                let session: Int32 = 0x80
                var flags: Int32 = 0
            #endif
            flags |= Int32(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
            flags |= inGroup ? Int32(POSIX_SPAWN_SETPGROUP) : session
            posix_spawn_file_actions_init(&actions)
            posix_spawnattr_init(&attributes)
            defer {
                posix_spawn_file_actions_destroy(&actions)
                posix_spawnattr_destroy(&attributes)
            }
            try prepare(&actions)
            #if !canImport(Darwin)
                // Another test's pipe that the program inherited would stay open as long as it runs.
                for descriptor in 3..<Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 4096)) {
                    posix_spawn_file_actions_addclose(&actions, descriptor)
                }
            #endif
            var defaults = sigset_t()
            sigemptyset(&defaults)
            for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&defaults, signal) }
            posix_spawnattr_setsigdefault(&attributes, &defaults)
            // Threads of Dispatch block all signals, which programs would inherit.
            var blocked = sigset_t()
            sigemptyset(&blocked)
            posix_spawnattr_setsigmask(&attributes, &blocked)
            posix_spawnattr_setflags(&attributes, Int16(flags))
            var process: pid_t = 0
            let (arguments, variables) = (words.map { strdup($0) } + [nil], variables.map { strdup($0) } + [nil])
            defer { for text in arguments + variables { free(text) } }
            let result = posix_spawn(&process, words[0], &actions, &attributes, arguments, variables)
            guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
            return process
        }
    }
#endif

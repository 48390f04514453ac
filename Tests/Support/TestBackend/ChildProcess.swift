public import Foundation

#if os(macOS)
    public typealias ChildProcess = Process
#elseif os(Linux)
    import FeathersSupport

    /// A program that a test starts, with the part of Foundation's `Process` that tests use.
    ///
    /// On Linux, `Process.run()` copies 256 bytes for the name of each open descriptor, although the system's buffer
    /// may end before that: with more than a thousand of them, as in a test run, it can crash.
    public final class ChildProcess: Sendable {
        private struct State: Sendable {
            var executable: URL?
            var arguments: [String] = []
            var environment: [String: String]?
            var directory: URL?
            /// A pipe, a file handle, or nil for the descriptor of this process: input, output, errors.
            var streams: [(any Sendable)?] = [nil, nil, nil]
            var terminationHandler: (@Sendable (ChildProcess) -> Void)?
            var identifier: pid_t = 0
            /// As `waitpid` reports it.
            var status: Int32?
        }

        public enum TerminationReason: Sendable {
            case exit, uncaughtSignal
        }

        private let state = Locked(State())
        private let ended = DispatchGroup()

        public init() {}

        public var executableURL: URL? {
            get { state.withLock { $0.executable } }
            set { state.withLock { $0.executable = newValue } }
        }
        public var arguments: [String]? {
            get { state.withLock { $0.arguments } }
            set { state.withLock { $0.arguments = newValue ?? [] } }
        }
        public var environment: [String: String]? {
            get { state.withLock { $0.environment } }
            set { state.withLock { $0.environment = newValue } }
        }
        public var currentDirectoryURL: URL? {
            get { state.withLock { $0.directory } }
            set { state.withLock { $0.directory = newValue } }
        }
        public var standardInput: (any Sendable)? {
            get { state.withLock { $0.streams[0] } }
            set { state.withLock { $0.streams[0] = newValue } }
        }
        public var standardOutput: (any Sendable)? {
            get { state.withLock { $0.streams[1] } }
            set { state.withLock { $0.streams[1] = newValue } }
        }
        public var standardError: (any Sendable)? {
            get { state.withLock { $0.streams[2] } }
            set { state.withLock { $0.streams[2] = newValue } }
        }
        public var terminationHandler: (@Sendable (ChildProcess) -> Void)? {
            get { state.withLock { $0.terminationHandler } }
            set { state.withLock { $0.terminationHandler = newValue } }
        }

        public var processIdentifier: pid_t { state.withLock { $0.identifier } }
        public var isRunning: Bool { state.withLock { $0.identifier != 0 && $0.status == nil } }

        /// The exit code, or the number of the signal that ended the process.
        public var terminationStatus: Int32 {
            let status = state.withLock { $0.status } ?? 0
            return status & 0x7F == 0 ? status >> 8 & 0xFF : status & 0x7F
        }
        public var terminationReason: TerminationReason {
            (state.withLock { $0.status } ?? 0) & 0x7F == 0 ? .exit : .uncaughtSignal
        }

        public func run() throws {
            let (program, environment, directory, streams) = state.withLock {
                ([$0.executable?.path ?? ""] + $0.arguments, $0.environment, $0.directory, $0.streams)
            }
            // Glibc's module hides the action that would change it.
            let words = directory.map { ["/usr/bin/env", "--chdir", $0.path] + program } ?? program
            let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" }
            let descriptors = streams.enumerated().map { number, stream in Self.descriptor(of: stream, number) }
            let identifier = try SpawnedProcess.start(words, variables, inGroup: true) { actions in
                for (number, descriptor) in descriptors.enumerated() {
                    guard let descriptor else { continue }
                    posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
                }
            }
            state.withLock { $0.identifier = identifier }
            // Only the program keeps its ends of the pipes.
            if let pipe = streams[0] as? Pipe { try? pipe.fileHandleForReading.close() }
            for case let pipe as Pipe in streams.dropFirst() { try? pipe.fileHandleForWriting.close() }
            ended.enter()
            Thread { self.reap(identifier) }.start()
        }

        public func terminate() {
            if isRunning { kill(processIdentifier, SIGTERM) }
        }

        /// Blocks the thread until the process has ended.
        public func waitUntilExit() { ended.wait() }

        private func reap(_ identifier: pid_t) {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
            let handler = state.withLock {
                $0.status = status
                return $0.terminationHandler
            }
            ended.leave()
            handler?(self)
        }

        private static func descriptor(of stream: (any Sendable)?, _ number: Int) -> Int32? {
            switch stream {
            case let pipe as Pipe where number == 0: pipe.fileHandleForReading.fileDescriptor
            case let pipe as Pipe: pipe.fileHandleForWriting.fileDescriptor
            case let handle as FileHandle: handle.fileDescriptor
            default: nil
            }
        }
    }
#endif

#if os(macOS) || os(Linux)
    public import Foundation

    /// The server that knows repeated writes by their keys, see `Tests/Backend/ledger.py`: to be killed and started
    /// again at the same place.
    public final class LedgerServer: Sendable {
        public let url: URL
        private let process: Process
        // The server stops when its input ends.
        private let lifeline: FileHandle

        /// Starts the server and waits until it listens.
        /// - Parameters:
        ///   - ledger: the file of its executions.
        ///   - last: the server in whose place it comes.
        ///   - isForgetful: whether it executes repetitions too.
        public static func start(ledger: URL, after last: LedgerServer? = nil, isForgetful: Bool = false) async throws
            -> LedgerServer
        {
            let port = last?.url.port ?? 0
            return try await SiblingProgram.onThread { try LedgerServer(ledger: ledger, port: port, isForgetful) }
        }

        private init(ledger: URL, port: Int, _ isForgetful: Bool) throws {
            let python = try VirtualEnvironment(package: PackageFolder.url, python: PythonInstallation()).prepared()
            let (process, input, output) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(filePath: python)
            process.arguments =
                [
                    "-u", PackageFolder.backend.appending(path: "ledger.py").path, "--file", ledger.path, "--port",
                    "\(port)",
                ]
                + (isForgetful ? ["--forgetful"] : [])
            process.standardInput = input
            process.standardOutput = output
            // What it says of clients that were killed.
            process.standardError = FileHandle.nullDevice
            for handle in [input.fileHandleForWriting, output.fileHandleForReading] {
                _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
            try process.run()
            let watchdog = Watchdog(after: 60, process: process.processIdentifier)
            defer { watchdog.cancel() }
            var lines = LineReader(handle: output.fileHandleForReading)
            guard let line = lines.next(), line.hasPrefix("READY "),
                let url = URL(string: "http://127.0.0.1:\(line.dropFirst(6))")
            else {
                process.terminate()
                throw BackendUnavailable.start(
                    watchdog.hasFired ? "the ledger: not within 60 seconds" : "the ledger ended")
            }
            (self.url, self.process, lifeline) = (url, process, input.fileHandleForWriting)
        }

        /// Kills the server and returns when it is gone.
        public func kill() async throws {
            _ = Foundation.kill(process.processIdentifier, SIGKILL)
            let process = process
            try await SiblingProgram.onThread { process.waitUntilExit() }
            try? lifeline.close()
        }
    }
#endif

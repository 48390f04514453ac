#if os(macOS) || os(Linux)
    package import Foundation
    import Synchronization

    /// A server of its own from `Tests/Support/Backend`, which a test can kill, and whose lines of output it can read.
    package final class PythonServer: Sendable {
        package let url: URL
        private let process: ChildProcess
        /// The server stops when its input ends.
        private let lifeline: FileHandle
        private let output: Mutex<LineReader>
        private let watchdog: Watchdog?

        /// Starts the server and waits until it listens.
        /// - Parameter limit: The seconds after which the server ends; nil for none.
        package static func start(_ script: String, _ arguments: [String], atMost limit: TimeInterval? = nil)
            async throws -> PythonServer
        {
            try await SiblingProgram.onThread { try PythonServer(script, arguments, limit) }
        }

        private init(_ script: String, _ arguments: [String], _ limit: TimeInterval?) throws {
            let python = try VirtualEnvironment(package: PackageFolder.url, python: PythonInstallation()).prepared()
            let (process, input, output) = (ChildProcess(), Pipe(), Pipe())
            process.executableURL = URL(filePath: python)
            process.arguments = ["-u", PackageFolder.backend.appending(path: script).path] + arguments
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
                throw BackendUnavailable.start("\(script): " + (watchdog.hasFired ? "not within a minute" : "it ended"))
            }
            (self.url, self.process, lifeline) = (url, process, input.fileHandleForWriting)
            self.output = Mutex(lines)
            self.watchdog = limit.map { Watchdog(after: $0, process: process.processIdentifier) }
        }

        /// Waits for the next line of output; nil once the server has ended.
        package func nextLine() async throws -> String? {
            try await SiblingProgram.onThread { self.output.withLock { $0.next() } }
        }

        /// Ends the server. Its output can still be read.
        package func end() {
            watchdog?.cancel()
            if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
        }

        /// Kills the server and returns when it is gone.
        package func kill() async throws {
            end()
            try await SiblingProgram.onThread { [process] in process.waitUntilExit() }
            try? lifeline.close()
        }
    }
#endif

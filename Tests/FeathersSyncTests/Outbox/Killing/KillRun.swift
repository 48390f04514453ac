#if os(macOS) || os(Linux)
    import Foundation
    import TestBackend
    import Testing

    /// The files and processes of one run.
    struct KillRun {
        let transport: String
        let folder: OutboxFolder
        private var url: URL { folder.url }

        init(transport: String) throws {
            self.transport = transport
            folder = try OutboxFolder()
        }

        var ledger: URL { url.appending(path: "ledger") }
        private var acknowledged: URL { url.appending(path: "acknowledged") }

        /// - Parameters:
        ///   - generation: nil for a writer that only sends.
        ///   - untilReady: whether to wait until it has opened the outbox.
        func startWriter(_ server: URL, generation: Int?, untilReady: Bool = true) async throws -> ChildProcess {
            let arguments = [
                folder.file.path, acknowledged.path, server.absoluteString, transport,
                generation.map(String.init) ?? "-", "\(getpid())",
            ]
            return try await SiblingProgram.onThread {
                let process = ChildProcess()
                let output = Pipe()
                process.executableURL = SiblingProgram.url("OutboxWriter")
                process.arguments = arguments
                process.standardOutput = output
                _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
                try process.run()
                if untilReady { _ = try output.fileHandleForReading.nextBytes() }
                return process
            }
        }

        func kill(_ writer: ChildProcess) async throws {
            Foundation.kill(writer.processIdentifier, SIGKILL)
            try await SiblingProgram.onThread { writer.waitUntilExit() }
            #expect(writer.terminationReason == .uncaughtSignal && writer.terminationStatus == SIGKILL)
        }

        /// Runs a writer that only sends, to its end.
        func sendTheRest(to server: URL) async throws {
            let writer = try await startWriter(server, generation: nil)
            let process = writer.processIdentifier
            try await SiblingProgram.onThread {
                let limit = DispatchWorkItem { Foundation.kill(process, SIGKILL) }
                DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: limit)
                writer.waitUntilExit()
                limit.cancel()
            }
            #expect(writer.terminationReason == .exit && writer.terminationStatus == 0, "the rest was not sent")
        }

        func check() throws -> LedgerCheck {
            func text(_ url: URL) throws -> String {
                FileManager.default.fileExists(atPath: url.path) ? try String(contentsOf: url, encoding: .utf8) : ""
            }
            return try LedgerCheck(acknowledged: text(acknowledged), ledger: text(ledger))
        }
    }
#endif

import Foundation
import Synchronization

/// The running Python server.
final class BackendProcess: Sendable {
    let services: URL
    let script: URL
    /// nil where the server could make no certificate.
    let secureScript: SecureScriptServer?
    let webSockets: WebSocketServer
    let jsonAPI: URL

    #if os(macOS) || os(Linux)
        // The server stops when its input ends, so this stays open for as long as this process lives.
        private let lifeline: FileHandle
        private let identifier: pid_t
        private let mayRun = Mutex(true)

        /// Starts the server and waits until it says where it listens.
        init(python: String, folder: URL, variables: [String: String], limit: TimeInterval = 60) throws {
            let process = ChildProcess()
            let input = Pipe()
            let output = Pipe()
            process.executableURL = URL(filePath: python)
            process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
            process.arguments = [
                "-u", folder.appending(path: "server.py").path, "--machine", "--port", variables["PORT"] ?? "0",
            ]
            process.standardInput = input
            process.standardOutput = output
            // A child that inherited the write end would keep the server alive after us.
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            try process.run()
            let watchdog = Watchdog(after: limit, process: process.processIdentifier)
            defer { watchdog.cancel() }
            var lines = LineReader(handle: output.fileHandleForReading)
            guard
                let services = lines.next().flatMap({ Self.value(of: "READY ", in: $0) }),
                let script = lines.next().flatMap({ Self.value(of: "SCRIPT ", in: $0) }),
                let secureScript = lines.next().flatMap({ Self.value(of: "SCRIPT_TLS ", in: $0) }),
                let webSockets = lines.next().flatMap({ Self.value(of: "WEBSOCKET ", in: $0) }),
                let jsonAPI = lines.next().flatMap({ Self.value(of: "JSONAPI ", in: $0) }),
                let servicesURL = URL(string: services),
                let scriptURL = URL(string: "http://" + script),
                let jsonAPIURL = URL(string: jsonAPI),
                let webSocketServer = WebSocketServer(
                    webSockets, certificate: SecureScriptServer(secureScript)?.certificate)
            else {
                process.terminate()
                throw BackendUnavailable.start(watchdog.hasFired ? "not within \(Int(limit)) seconds" : "it ended")
            }
            self.lifeline = input.fileHandleForWriting
            self.identifier = process.processIdentifier
            self.services = servicesURL
            self.script = scriptURL
            self.secureScript = SecureScriptServer(secureScript)
            self.webSockets = webSocketServer
            self.jsonAPI = jsonAPIURL
        }

        deinit {
            try? lifeline.close()
        }

        /// Ends the server without a word, as a machine that fails does.
        func kill() {
            mayRun.withLock { mayRun in
                // Once it has ended, the number may belong to some other process.
                if mayRun { _ = Foundation.kill(identifier, SIGKILL) }
                mayRun = false
            }
        }

        private static func value(of prefix: String, in line: String) -> String? {
            line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : nil
        }
    #else
        init(python: String, folder: URL, variables: [String: String]) throws {
            throw BackendUnavailable.python
        }

        func kill() {}
    #endif
}

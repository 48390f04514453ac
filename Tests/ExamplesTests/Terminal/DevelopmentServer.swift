import Foundation
import Synchronization
import TestBackend

/// The server that comes with the package, as a person starts it: in a terminal.
final class DevelopmentServer: Sendable {
    let terminal: PseudoTerminal
    /// The address that it prints.
    let url: String

    /// Starts the server, and waits until it has introduced itself.
    init(port: Int = 0) async throws {
        terminal = try Self.start(port: port)
        try await terminal.waits(for: "Press Ctrl-C to stop.")
        url = terminal.lines.first.flatMap { $0.split(separator: " ").last.map(String.init) } ?? ""
    }

    /// Starts the server without waiting for anything.
    static func start(port: Int) throws -> PseudoTerminal {
        let python = try VirtualEnvironment.interpreter()
        let script = PackageFolder.backend.appending(path: "server.py").path
        return try PseudoTerminal(URL(filePath: python), ["-u", script, "--port", "\(port)"], columns: 300)
    }

    var port: Int { URL(string: url)?.port ?? 0 }

    /// Kills the server.
    func kill() async throws { _ = try await terminal.kills() }
}

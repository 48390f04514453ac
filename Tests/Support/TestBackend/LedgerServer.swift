#if os(macOS) || os(Linux)
    public import Foundation

    /// The server that knows repeated writes by their keys, see `Tests/Support/Backend/ledger.py`: to be killed and started
    /// again at the same place.
    public final class LedgerServer: Sendable {
        private let server: PythonServer
        public var url: URL { server.url }

        /// Starts the server and waits until it listens.
        /// - Parameters:
        ///   - ledger: the file of its executions.
        ///   - last: the server in whose place it comes.
        ///   - isForgetful: whether it executes repetitions too.
        public static func start(ledger: URL, after last: LedgerServer? = nil, isForgetful: Bool = false) async throws
            -> LedgerServer
        {
            let arguments = ["--file", ledger.path, "--port", "\(last?.url.port ?? 0)"]
            return LedgerServer(
                try await PythonServer.start("ledger.py", arguments + (isForgetful ? ["--forgetful"] : [])))
        }

        private init(_ server: PythonServer) { self.server = server }

        /// Kills the server and returns when it is gone.
        public func kill() async throws { try await server.kill() }
    }
#endif

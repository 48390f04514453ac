#if os(macOS) || os(Linux)
    import Feathers
    import FeathersSupport
    import Foundation
    import TestBackend
    import Testing

    /// A server that replaces refresh tokens, and processes that share one sign-in to it.
    final class SharingRun: Sendable {
        private struct Sharer: Sendable {
            let name: String
            let identifier: pid_t
            /// Resolved with the signal that ended the process, or with 0.
            let ended: Promise<Int32>
        }

        private let folder = FileManager.default.temporaryDirectory.appending(
            path: "feathers-sharing-\(UUID().uuidString)", directoryHint: .isDirectory)
        private let isLocked: Bool
        private let server: PythonServer
        private let sharers = Locked<[Sharer]>([])

        /// Starts the server, signs in, and starts four processes.
        /// - Parameter refreshes: How many refreshes to allow time for: a second each.
        init(seed: UInt64, refreshes: Int, isLocked: Bool) async throws {
            self.isLocked = isLocked
            server = try await PythonServer.start(
                "rotation.py", ["--seed", "\(seed)", "--sign-ins", isLocked ? "0" : "5"],
                atMost: 60 + Double(refreshes))
            try await app("first").authenticate(.local(email: "a", password: "p"))
            for place in 0..<4 {
                let sharer = try start("\(place)-0")
                sharers.withLock { $0.append(sharer) }
            }
        }

        deinit {
            // A test that failed may have left them.
            for sharer in sharers.withLock({ $0 }) where !sharer.ended.isSettled { kill(sharer.identifier, SIGKILL) }
            server.end()
            try? FileManager.default.removeItem(at: folder)
        }

        /// Creates an app of this process that shares the sign-in.
        func app(_ name: String) throws -> FeathersApp {
            let app = FeathersApp(transport: .rest(server.url))
            try app.use(
                authentication: AuthenticationOptions(
                    storage: FileTokenStorage(directory: folder),
                    refresh: .service("refresh-tokens", fields: ["process": .string(name)])))
            return app
        }

        /// Waits for what happens next on the server; nil if the server or a process has ended that was not killed.
        func nextLine() async throws -> String? { try await server.nextLine() }

        /// Kills the process at a place and starts another one there.
        /// - Returns: The name of the killed process.
        func replace(_ place: Int, generation: Int) async throws -> String {
            let killed = sharers.withLock { $0[place] }
            try await end(killed)
            let sharer = try start("\(place)-\(generation)")
            sharers.withLock { $0[place] = sharer }
            return killed.name
        }

        /// Kills all processes.
        /// - Returns: Their names.
        func killAll() async throws -> [String] {
            let all = sharers.withLock { $0 }
            for sharer in all { try await end(sharer) }
            return all.map(\.name)
        }

        /// Ends the server.
        /// - Returns: The lines of its output that were not read yet.
        func end() async throws -> [String] {
            server.end()
            var lines: [String] = []
            while let line = try await server.nextLine() { lines.append(line) }
            return lines
        }

        private func end(_ sharer: Sharer) async throws {
            if !sharer.ended.isSettled { kill(sharer.identifier, SIGKILL) }
            let signal = try await sharer.ended.value()
            #expect(signal == SIGKILL, "\(sharer.name) ended by itself")
        }

        private func start(_ name: String) throws -> Sharer {
            let (process, ended) = (ChildProcess(), Promise<Int32>())
            process.executableURL = SiblingProgram.url("TokenSharer")
            process.arguments = [
                folder.path, server.url.absoluteString, name, isLocked ? "locked" : "unlocked", "\(getpid())",
            ]
            process.terminationHandler = { [server] process in
                let signal = process.terminationReason == .uncaughtSignal ? process.terminationStatus : 0
                // Otherwise, the test might wait for events forever.
                if signal != SIGKILL { server.end() }
                ended.resolve(signal)
            }
            try process.run()
            return Sharer(name: name, identifier: process.processIdentifier, ended: ended)
        }
    }
#endif

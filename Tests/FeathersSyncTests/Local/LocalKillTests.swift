#if os(macOS) || os(Linux)
    import Feathers
    import FeathersTesting
    import Foundation
    import TestBackend
    import Testing

    @Suite("Killing an app that keeps data on the device", .timeLimit(.minutes(30)), .serialized, .inTurn)
    struct LocalKillTests {
        private static let kills = Environment.count ?? 5
        /// How long a snapshot may take to reach the disk: the delay of 50 ms, and what a busy machine needs.
        private static let slack = 1500

        @Test("leaves what was shown shortly before, and every accepted write, to be seen without a server")
        func killed() async throws {
            let folder = try OutboxFolder()
            // A process may be killed before it has begun.
            try Data().write(to: folder.url.appending(path: "log"))
            var log = Log()
            var kill = 0
            // More, if the processes were too slow to do anything before they were killed.
            while kill < max(Self.kills, 1) || log.queuedCount <= Self.kills {
                kill += 1
                let process = try await start(in: folder)
                // Chance is what is wanted here: nothing is waited for.
                try await Task.sleep(for: .milliseconds(Int.random(in: 100..<3000)))
                Foundation.kill(process.processIdentifier, SIGKILL)
                let end = Int(Date().timeIntervalSince1970 * 1000)
                try await SiblingProgram.onThread { process.waitUntilExit() }
                #expect(process.terminationReason == .uncaughtSignal)
                let shown = try await reopen(in: folder)
                try log.read(from: folder.url.appending(path: "log"), shownBefore: end - Self.slack)
                for (id, number) in log.expected where shown[id] ?? 0 < number {
                    Issue.record("after \(kill) kills, the record \(id) shows \(shown[id] ?? 0) rather than \(number)")
                }
                // Each kill may leave one write on disk that was not acknowledged. Nothing else is shown that was not
                // shown or accepted before.
                #expect(shown.count { !log.marks.contains("\($0.key)=\($0.value)") } <= kill)
                if kill % 50 == 0 { print("\(kill) kills, \(log.queuedCount) accepted writes") }
            }
        }

        @Test("A process that reads shows every accepted write while the one that writes is suspended at any moment")
        func suspended() async throws {
            let folder = try OutboxFolder()
            try Data().write(to: folder.url.appending(path: "log"))
            let process = try await start(in: folder)
            var log = Log()
            var count = 0
            while count < Self.kills || log.queuedCount <= Self.kills {
                count += 1
                // Chance is what is wanted here: nothing is waited for.
                try await Task.sleep(for: .milliseconds(Int.random(in: 50..<500)))
                try await Self.suspend(process)
                let shown = try await reopen(in: folder, LocalStore.readOnly)
                try log.read(from: folder.url.appending(path: "log"), shownBefore: 0)
                for (id, number) in log.expected where shown[id] ?? 0 < number {
                    Issue.record("at stop \(count), the record \(id) shows \(shown[id] ?? 0) rather than \(number)")
                }
                Foundation.kill(process.processIdentifier, SIGCONT)
            }
            Foundation.kill(process.processIdentifier, SIGKILL)
            try await SiblingProgram.onThread { process.waitUntilExit() }
        }

        /// Suspends a process. After the signal, its threads may run on for some milliseconds, and accept more writes.
        private static func suspend(_ process: ChildProcess) async throws {
            let identifier = process.processIdentifier
            Foundation.kill(identifier, SIGSTOP)
            try await SiblingProgram.onThread {
                var info = siginfo_t()
                // The status stays where it is, for whoever waits for the end of the process.
                #expect(waitid(P_PID, id_t(identifier), &info, WSTOPPED | WNOWAIT) == 0)
            }
        }

        /// What the killed processes have told. Each line is read once, because the log becomes long.
        private struct Log {
            /// What must be shown, by record.
            private(set) var expected: [String: Int64] = [:]
            /// Every state of a record that was shown or accepted.
            private(set) var marks: Set<String> = []
            private(set) var queuedCount = 0
            private var offset: UInt64 = 0
            /// What was shown too late to be sure to have reached the disk.
            private var late: [(time: Int, id: String, number: Int64)] = []

            mutating func read(from file: URL, shownBefore limit: Int) throws {
                let handle = try FileHandle(forReadingFrom: file)
                defer { try? handle.close() }
                try handle.seek(toOffset: offset)
                let bytes = try handle.readToEnd() ?? Data()
                offset += UInt64(bytes.count)
                for line in bytes.split(separator: UInt8(ascii: "\n")) {
                    let parts = String(decoding: line, as: UTF8.self).split(separator: " ")
                    if parts.first == "queued", parts.count == 3, let number = Int64(parts[2]) {
                        queuedCount += 1
                        marks.insert("\(parts[1])=\(number)")
                        expect(number, of: String(parts[1]))
                    } else if parts.first == "shown", parts.count > 1, let time = Int(parts[1]) {
                        // Most records of a snapshot were in the one before.
                        for mark in parts.dropFirst(2) where marks.insert(String(mark)).inserted || time >= limit {
                            let pair = mark.split(separator: "=")
                            guard pair.count == 2, let number = Int64(pair[1]) else { continue }
                            late.append((time, String(pair[0]), number))
                        }
                    }
                }
                for mark in late where mark.time < limit { expect(mark.number, of: mark.id) }
                late.removeAll { $0.time < limit }
            }

            private mutating func expect(_ number: Int64, of id: String) {
                expected[id] = max(expected[id] ?? 0, number)
            }
        }

        private func start(in folder: OutboxFolder) async throws -> ChildProcess {
            let paths = ["store", "log", "server"].map { folder.url.appending(path: $0).path }
            return try await SiblingProgram.onThread {
                let process = ChildProcess()
                let output = Pipe()
                process.executableURL = SiblingProgram.url("LocalWriter")
                process.arguments = paths + ["\(getpid())"]
                process.standardOutput = output
                _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
                try process.run()
                return process
            }
        }

        /// Opens the store without a server.
        /// - Returns: The numbers of the records in the first snapshot.
        private func reopen(
            in folder: OutboxFolder, _ store: (URL) -> LocalStore = LocalStore.directory
        ) async throws -> [String: Int64] {
            let app = FeathersApp(
                transport: StubTransport { _ in throw FeathersError(.unavailable, "No server", execution: .neverSent) })
            try await app.use(localStore: store(folder.url.appending(path: "store", directoryHint: .isDirectory))) {
                options in
                options.keyPlaces = [.recordID(), .header()]
            }
            let records = Task {
                for try await snapshot in app.service("records").live(.sorted(by: "id")).snapshots {
                    return Array(snapshot.records)
                }
                return []
            }
            // Nothing is kept if the process was killed at once.
            let limit = Task {
                try await Task.sleep(for: .seconds(60))
                records.cancel()
            }
            let shown = (try? await records.value) ?? []
            limit.cancel()
            await app.outbox?.close()
            return Dictionary(shown.map { ($0["id"]?.string ?? "", $0["n"]?.integer ?? 0) }) { first, _ in first }
        }
    }
#endif

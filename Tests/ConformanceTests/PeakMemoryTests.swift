#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    /// What a server can make of the memory of a process that has nothing else to do, at the default limits.
    @Suite(
        "Peak memory", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)),
        .disabled(if: Environment.isThreadSanitized, "Thread Sanitizer takes a multiple of the memory itself"))
    struct PeakMemoryTests {
        struct Probe: Sendable, CustomTestStringConvertible {
            /// `{server}` stands for the URL of what misbehaves.
            let arguments: String
            /// What comes of it, in part.
            let outcome: String
            /// In MiB.
            let limit: Int

            init(_ arguments: String, _ outcome: String, below limit: Int) {
                self.arguments = arguments
                self.outcome = outcome
                self.limit = limit
            }

            var testDescription: String { arguments }
        }

        @Test(
            "Texts as large as they may be, made of what takes most, and larger ones",
            arguments: [
                Probe("tree zeros 8000000", "parsed", below: 512), Probe("tree arrays 8000000", "parsed", below: 512),
                Probe("tree members 14000000", "parsed", below: 512), Probe("tree keys 16000000", "parsed", below: 512),
                Probe("tree zeros 16000000", "more than 4194304 values", below: 128),
                Probe("tree objects 16000000", "more than 4194304 values", below: 128),
            ])
        func texts(_ probe: Probe) async throws {
            try await check(probe)
        }

        @Test(
            "Answers that grow, packets without an end, and events that come too early",
            arguments: [
                Probe("rest {server}/json/zeros/67108864", "times as large", below: 128),
                Probe("connect {server} /__payloads/noops/62914560/ polling", "times as large", below: 128),
                Probe("connect {server} /__payloads/noops/1048576/ polling", "more than 65536 packets", below: 128),
                Probe(
                    "connect {server} /__payloads/early/members/64/2097152/ webSocket", "too many events before",
                    below: 256),
            ])
        func answers(_ probe: Probe) async throws {
            try await check(probe)
        }

        @Test(
            "Large events that nobody reads",
            arguments: [
                Probe("unread {server} /__payloads/events/members/8/6291456/ service", "6 given up", below: 512),
                Probe("unread {server} /__payloads/events/members/8/6291456/ raw", "2 waited", below: 512),
            ])
        func events(_ probe: Probe) async throws {
            try await check(probe)
        }

        private func check(_ probe: Probe) async throws {
            let server = try await TestBackend.scriptServer().appending(path: "__payloads").absoluteString
            let arguments = probe.arguments.split(separator: " ").map { String($0).replacing("{server}", with: server) }
            let lines = try await Self.output(of: arguments)
            try #require(lines.count == 2, "\(lines)")
            #expect(lines[0].contains(probe.outcome), "\(lines[0])")
            let peak = try #require(Int(lines[1]))
            #expect(peak > 0 && peak >> 10 < probe.limit, "\(peak >> 10) MiB, \(lines[0])")
        }

        /// The two lines of a probe that runs to its end.
        private static func output(of arguments: [String]) async throws -> [String] {
            try await SiblingProgram.onThread {
                let process = ChildProcess()
                let output = Pipe()
                process.executableURL = SiblingProgram.url("MemoryProbe")
                process.arguments = arguments
                process.standardOutput = output
                // glibc gives threads arenas of their own, and what is freed in one is not used by the next: on as many
                // threads as messages, unread events took 648 MiB, and 355 in one arena. Which threads dispatch takes
                // is chance; here only what the library holds counts.
                process.environment = ProcessInfo.processInfo.environment.merging(["MALLOC_ARENA_MAX": "1"]) { $1 }
                _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
                try process.run()
                let number = process.processIdentifier
                let limit = DispatchWorkItem { kill(number, SIGKILL) }
                DispatchQueue.global().asyncAfter(deadline: .now() + 240, execute: limit)
                defer { limit.cancel() }
                // So little is written that nobody has to read it meanwhile.
                process.waitUntilExit()
                let text = String(decoding: try output.fileHandleForReading.nextBytes(), as: UTF8.self)
                return text.split(separator: "\n").map(String.init)
            }
        }
    }
#endif

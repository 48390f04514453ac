// The testing library of Swift 6.2, which Debian has, passes no values to exit tests.
#if compiler(>=6.3) && (os(macOS) || os(Linux))
    import FeathersSupport
    import Foundation
    import TestBackend
    import Testing

    /// Random histories of apps that show queued writes and keep results. Each runs as a simulation, so a seed that
    /// fails fails again.
    @Suite("Local-first histories", .serialized)
    struct LocalHistoryTests {
        @Test("show pending writes in the same step, and at rest what the server answers")
        func connected() async throws { try await run(LocalHistories.all(hasConnection: true)) }

        @Test("do so over REST, where nothing tells the app of other changes than its own")
        func rest() async throws { try await run(LocalHistories.all(hasConnection: false)) }

        private func run(_ shares: [LocalHistories]) async throws {
            for share in shares {
                // Waiting for a process blocks threads, so it gets its own.
                let result = try await withTaskExecutorPreference(OwnThreads()) {
                    try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
                        [share = share as LocalHistories] in
                        share.run()
                    }
                }
                print(String(decoding: result.standardOutputContent, as: UTF8.self))
            }
        }
    }

    /// Runs each job on a thread that it may block, because no other test uses it.
    private final class OwnThreads: TaskExecutor {
        private let queue = DispatchQueue(label: "feathers.local-histories", attributes: .concurrent)

        func enqueue(_ job: UnownedJob) { queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }

    /// The histories of one process. A long run takes several in turn, so that each tells how its share has ended.
    struct LocalHistories: Codable, Sendable {
        private static let stepsOfOne = 100

        let hasConnection: Bool
        let seeds: Range<UInt64>

        /// Returns the histories that the environment asks for, in shares of at most 20,000 steps.
        static func all(hasConnection: Bool) -> [LocalHistories] {
            let total = Environment.count ?? 12_000
            let first = Environment.seed ?? 1
            // Over REST, less can happen.
            let steps = hasConnection ? total * 3 / 4 : total / 4
            let end = first + UInt64(max(steps / stepsOfOne, 1))
            return stride(from: first, to: end, by: 20_000 / stepsOfOne).map { seed in
                LocalHistories(hasConnection: hasConnection, seeds: seed..<min(seed + UInt64(20_000 / stepsOfOne), end))
            }
        }

        func run() {
            // Other tests come first.
            nice(19)
            RepeatableHashing.begin()
            var (counts, traces) = (LocalReport.Counts(), "")
            let name = hasConnection ? "over a connection" : "over REST"
            for seed in seeds {
                let report = LocalReport("history with seed \(seed) \(name)")
                let hasConnection = hasConnection
                Simulation.run(seed: seed) {
                    do {
                        try await LocalHistory(seed: seed, hasConnection: hasConnection, report).run(
                            steps: Self.stepsOfOne)
                    } catch {
                        report.violate("failed with \(error)")
                    }
                }
                counts.add(report.counts)
                traces += report.trace.joined()
                if let violation = report.violations.first { Issue.record("\(violation)") }
            }
            let text = LocalStep.allCases.map { "\($0) \(counts.steps[$0, default: 0])" }.joined(separator: ", ")
            print("Seeds \(seeds), \(counts.steps.values.reduce(0, +)) local-first steps \(name): \(text)")
            print("\(counts.checks) snapshots with \(counts.rows) rows")
            let drawn = LocalTrait.allCases.map { "\($0) \(counts.traits[$0, default: 0])" }.joined(separator: ", ")
            print("Of \(seeds.count) histories: \(drawn)")
            print("The same seeds have the same checksum in every run: \(SHA256.hex(Array(traces.utf8)).prefix(16))")
        }
    }
#endif

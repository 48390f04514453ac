import FeathersSupport
import TestBackend
import Testing

/// Random histories of whole apps against a model server.
///
/// With one history's seed as `FEATHERS_SEED` and `FEATHERS_COUNT=1`, it alone runs again over each way.
@Suite struct HistoryTests {
    private static let stepsOfOne = 120

    @Test(arguments: Way.allCases)
    func `No identity is shown or sends what is another's`(way: Way) async throws {
        let total = Environment.count ?? 20_000
        let firstSeed = Environment.seed ?? 1
        let histories = max((total / Way.allCases.count + Self.stepsOfOne - 1) / Self.stepsOfOne, 1)
        var counts: [HistoryStep: Int] = [:]
        for number in 0..<UInt64(histories) {
            let report = HistoryReport("history with seed \(firstSeed + number) over \(way)")
            await Self.run(seed: firstSeed + number, way, report)
            counts.merge(report.steps, uniquingKeysWith: +)
            for violation in report.violations { Issue.record("\(violation)") }
            if !report.violations.isEmpty { break }
        }
        let text = HistoryStep.allCases.map { "\($0) \(counts[$0, default: 0])" }.joined(separator: ", ")
        print("\(counts.values.reduce(0, +)) steps over \(way): \(text)")
    }

    private static func run(seed: UInt64, _ way: Way, _ report: HistoryReport) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await History(seed: seed, way: way, report).run(steps: stepsOfOne)
                } catch is CancellationError {
                } catch {
                    report.violate("failed with \(error)")
                }
            }
            group.addTask {
                // Only a history that hangs takes so long.
                guard (try? await ContinuousClock().sleep(for: .seconds(1800))) != nil else { return }
                report.violate("hangs")
                // At once, since what hangs may not end when it is cancelled.
                for violation in report.violations { print(violation) }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

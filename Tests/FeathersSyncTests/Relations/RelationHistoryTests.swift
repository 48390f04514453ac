import FeathersCore
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

/// With one history's seed as `FEATHERS_SEED` and `FEATHERS_COUNT=1`, it alone runs again.
@Suite("Related records after any history", .timeLimit(.minutes(30)))
struct RelationHistoryTests {
    @Test("are at rest those that plain finds result in")
    func histories() async throws {
        var counts: [String: Int] = [:]
        var failures: [String] = []
        let first = Environment.seed ?? 0
        for seed in first..<first + UInt64(Environment.count ?? 30) {
            let history = try await RelationHistory(seed: seed)
            if let failure = try await history.run(steps: 40) {
                let traits = history.traits.map(\.rawValue).sorted()
                failures.append("seed \(seed) \(traits): \(failure)")
                print("seed \(seed)", history.log.joined(separator: "\n"))
            }
            counts.merge(history.counts, uniquingKeysWith: +)
        }
        print(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        for failure in failures.prefix(10) { Issue.record("\(failure)") }
    }
}

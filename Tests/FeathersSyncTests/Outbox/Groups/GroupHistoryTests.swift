import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

/// With one history's seed as `FEATHERS_SEED` and `FEATHERS_COUNT=1`, it alone runs again.
@Suite("Groups and single writes after any history", .timeLimit(.minutes(30)))
struct GroupHistoryTests {
    @Test("are executed once and in order, or discarded, and nothing of a group is queued without the rest")
    func histories() async throws {
        var counts: [String: Int] = [:]
        var failures: [String] = []
        let first = Environment.seed ?? 0
        for seed in first..<first + UInt64(Environment.count ?? 60) {
            let history = try GroupHistory(seed: seed)
            failures += try await history.run().map { "seed \(seed), \($0)" }
            counts.merge(history.counts, uniquingKeysWith: +)
        }
        print(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        for failure in failures.prefix(10) { Issue.record("\(failure)") }
    }
}

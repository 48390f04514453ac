import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

/// After any history of writes, losses and changes of others, each window shows what a server answers.
///
/// With one history's seed as `FEATHERS_SEED` and `FEATHERS_COUNT=1`, it alone runs again with each kind of server.
@Suite("The store of local data after any history", .timeLimit(.minutes(60)))
struct StoreHistoryTests {
    static let kinds: [[ServerTrait]] = [
        [], [.muted], [.reshaped], [.noEvents], [.reusedIDs], [.repeatingValues],
        [.reusedIDs, .repeatingValues, .muted], [.overtaking], [.overtaking, .reusedIDs, .repeatingValues], [.noKeys],
        [.paginated], [.precise], [.precise, .paginated], [.precise, .noEvents], [.lookAlikes],
        [.versioned, .overtaking], [.versioned, .overtaking, .disorderly],
        [.versioned, .overtaking, .disorderly, .reusedIDs, .repeatingValues, .muted],
    ]

    @Test("shows what the server answers", arguments: kinds)
    func equalsTheServer(traits: [ServerTrait]) async throws {
        var counts: [String: Int] = [:]
        var failures: [String] = []
        let first = Environment.seed ?? 0
        for seed in first..<first + UInt64(Environment.count ?? 10) {
            // Other tests wait meanwhile, on as many threads as there are cores.
            await Task.yield()
            let history = try StoreHistory(traits, seed: seed)
            do { try history.run() } catch { failures.append("seed \(seed), \(error)") }
            counts.merge(history.counts, uniquingKeysWith: +)
        }
        print(traits, counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        for failure in failures.prefix(10) { Issue.record("\(failure)") }
    }
}

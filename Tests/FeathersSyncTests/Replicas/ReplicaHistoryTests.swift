import FeathersSupport
import Foundation
import Testing

@Suite("Histories of a replica", .timeLimit(.minutes(60)))
struct ReplicaHistoryTests {
    @Test("end with what the server shows, and find by an index what the matcher finds")
    func histories() async throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["FEATHERS_SEED"].flatMap { UInt64($0) } ?? 1
        let count = environment["FEATHERS_COUNT"].flatMap { UInt64($0) } ?? 40
        for seed in first..<first + count {
            var history = try ReplicaHistory(seed: seed, steps: 100)
            try await history.run()
            #expect(history.violations.isEmpty, "seed \(seed): \(history.violations)")
        }
    }
}

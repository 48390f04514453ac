import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite("Chaos", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct ChaosTests {
    // Its own, with a heartbeat quick enough to notice a stall many times in a minute.
    private static let backend = TestBackend(variables: ["PING_INTERVAL": "1000", "PING_TIMEOUT": "1000"])

    @Test(
        "ends every call by its deadline with its own answer, keeps events in order, and leaves nothing",
        arguments: ChaosLine.allCases)
    func chaos(line: ChaosLine) async throws {
        try await MachineLoad.settles()
        let run = try await ChaosRun(line, on: Self.backend)
        print("Chaos over \(line) for \(ChaosSettings.duration), FEATHERS_SEED=\(ChaosSettings.seed)")
        let counters = try await run.run()
        let journal = run.journal.current
        print(Self.report(line, journal, counters))
        for violation in journal.violations { Issue.record("\(violation)") }
        // Alone, the tasks of a run are late only by what it does itself.
        if ChaosSettings.isAlone {
            #expect(journal.longestOverrun < ChaosSettings.watchInterval * ChaosSettings.sightings)
        }
        #expect(journal.outcomes["answered", default: 0] > 0)
        #expect(journal.connections > 1)
        #expect(journal.events > 0)
        #expect(ResidentMemory.growth(journal.memory) < ChaosSettings.memoryGrowth)
    }

    private static func report(_ line: ChaosLine, _ journal: ChaosJournal.Entries, _ counters: FaultProxy.Counters)
        -> String
    {
        func table(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        return """
            Chaos over \(line), seed \(ChaosSettings.seed):
              calls: \(journal.outcomes.values.reduce(0, +)): \(table(journal.outcomes)); \
            longest overrun \(journal.longestOverrun)
              connections: \(journal.connections), TCP: \(counters.connections), \
            bytes: \(counters.toServer) out, \(counters.toClient) in
              events heard by all: \(journal.events); gaps: \(table(journal.gaps))
              weather: \(table(journal.weather)); faults: \(table(counters.faults))
              memory: \((journal.memory.max() ?? 0) >> 20) MiB at most, \
            grown by \(ResidentMemory.growth(journal.memory) >> 10) KiB
            """
    }
}

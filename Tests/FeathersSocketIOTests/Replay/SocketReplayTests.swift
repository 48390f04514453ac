import FeathersCore
import Testing

@testable import FeathersSocketIO

@Suite("The recorded Socket.IO traffic", .timeLimit(.minutes(10)))
struct SocketReplayTests {
    @Test("is sent and understood as by the JavaScript client", arguments: SocketRecording.cases)
    func replay(recordedCase: RecordedSocketCase) async {
        var replay = SocketCaseReplay(recordedCase)
        await replay.run()
        for finding in replay.findings where !SocketDeliberateDifference.table.contains(where: { $0.covers(finding) }) {
            Issue.record("\(finding)")
        }
    }

    @Test("is replayed completely, and every deliberate difference has its reason")
    func summary() async throws {
        let cases = try SocketRecording.loaded.get()
        var counts: [String: Int] = [:]
        var unexplained: [SocketReplayFinding] = []
        var compared = 0
        var withoutComparison = 0
        for recordedCase in cases {
            var replay = SocketCaseReplay(recordedCase)
            await replay.run()
            compared += replay.compared
            if replay.compared == 0, replay.findings.isEmpty, recordedCase.wire.contains(where: Self.isSent) { withoutComparison += 1 }
            for finding in replay.findings {
                if let row = SocketDeliberateDifference.table.first(where: { $0.covers(finding) }) {
                    counts[row.reason, default: 0] += 1
                } else {
                    unexplained.append(finding)
                }
            }
        }
        print("Socket.IO replay: \(cases.count) recorded cases, \(compared) packets of the client compared")
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(count) × \(reason)") }
        #expect(cases.count > 0 && compared > 0)
        #expect(Set(cases.map(\.testDescription)).count == cases.count)
        #expect(withoutComparison == 0)
        #expect(unexplained.isEmpty)
    }

    private static func isSent(_ entry: RecordedEntry) -> Bool {
        if case .sent(_, let text?) = entry { return text.hasPrefix("4") }
        if case .httpRequest(_, "POST", _, _, _) = entry { return true }
        return false
    }
}

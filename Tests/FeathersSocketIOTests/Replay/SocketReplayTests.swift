import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSocketIO

@Suite("The recorded Socket.IO traffic", .timeLimit(.minutes(10)))
struct SocketReplayTests {
    @Test("is sent and understood as by the JavaScript client", arguments: SocketRecording.cases)
    func replay(recordedCase: RecordedSocketCase) async {
        let replay = await SocketCaseReplay.of(recordedCase)
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
            let replay = await SocketCaseReplay.of(recordedCase)
            compared += replay.compared
            if replay.compared == 0, replay.findings.isEmpty, recordedCase.wire.contains(where: Self.isSent) {
                withoutComparison += 1
            }
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

    @Test("has no words where it was clipped and cannot be rebuilt, and says so")
    func clipped() async throws {
        let recordedCase = try Self.made(of: [
            [
                "kind": "frame", "ws": 1, "dir": "c2s", "type": "text", "bytes": 300,
                "text": #"420["create","big",{"a": …CLIPPED… },{}]"#,
            ]
        ])
        let findings = await SocketCaseReplay.of(recordedCase).findings
        #expect(findings.map(\.recorded) == ["no words for this case"])
        #expect(findings.allSatisfy { finding in SocketDeliberateDifference.table.contains { $0.covers(finding) } })
    }

    @Test("is given up after a while where it goes on otherwise than recorded")
    func limited() async throws {
        let recordedCase = try Self.made(of: [
            ["kind": "frame", "ws": 1, "dir": "c2s", "type": "text", "text": "9never"]
        ])
        let clock = ManualClock()
        async let replay = SocketCaseReplay.of(recordedCase, within: .seconds(60), on: RelativeClock(clock))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let findings = await replay.findings
        #expect(findings.map(\.aspect) == [.failure] && findings.first?.ours.contains("within 60.0 seconds") == true)
        #expect(!SocketDeliberateDifference.table.contains { row in findings.contains(where: row.covers) })
    }

    private static func made(of wire: JSONValue) throws -> RecordedSocketCase {
        try RecordedSocketCase(["group": "made", "name": "made", "call": "", "wire": wire], file: "made")
    }

    private static func isSent(_ entry: RecordedEntry) -> Bool {
        if case .sent(_, let text?) = entry { return text.hasPrefix("4") }
        if case .httpRequest(_, "POST", _, _, _) = entry { return true }
        return false
    }
}

import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

@Suite("The recorded HTTP traffic of FeathersJS 6", .timeLimit(.minutes(10)))
struct Feathers6ReplayTests {
    /// The calls of every group, made-up ones too. Responses of scripted servers and event streams are replayed by
    /// `RecordedStreamTests`.
    private static let calls = HTTPRecording.feathers6.cases.filter { !$0.isScripted && !$0.hasEventStream }

    @Test("is sent and understood as by the JavaScript client, at the seam", arguments: calls)
    func seam(recordedCase: RecordedCase) async throws {
        try await CaseReplay.check(recordedCase) { try SeamLane($0) }
    }

    @Test(
        "is sent and understood alike over a connection", .inTurn, .enabled(if: !TestBackend.isSkipped),
        arguments: calls)
    func connection(recordedCase: RecordedCase) async throws {
        let client = Self.client
        try await CaseReplay.check(recordedCase) { try await ScriptLane($0, client) }
    }

    private static let client = PlatformHTTPClient.make()

    @Test(
        "beside event streams is sent alike",
        arguments: HTTPRecording.feathers6.cases.filter { $0.hasEventStream && !$0.isScripted })
    func beside(recordedCase: RecordedCase) async throws {
        for exchanges in recordedCase.calls where exchanges.first?.response?.end == "complete" {
            var call = CallReplay(recordedCase, exchanges) { try SeamLane($0) }
            _ = try await call.run()
            for finding in call.findings where !DeliberateDifference.table.contains(where: { $0.covers(finding) }) {
                Issue.record("\(finding)")
            }
        }
    }

    @Test("is replayed completely, and every deliberate difference has its reason")
    func summary() async throws {
        let recording = try HTTPRecording.feathers6.get()
        let counts = try await CaseReplay.differences(in: Self.calls)
        let others = Set(RecordedStream.scripted + RecordedStream.events)
        let replayed = Self.calls.count + others.count
        print(
            "FeathersJS 6 replay: \(replayed) of \(recording.count) recorded cases, "
                + "\(Self.calls.count) of them call by call")
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(count) × \(reason)") }
        #expect(replayed == recording.count)
        #expect(Set(recording.cases.map(\.id)).count == recording.count)
        #expect(counts["NOT EXPLAINED"] == nil)
    }
}

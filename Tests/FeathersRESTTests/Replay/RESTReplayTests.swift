import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import TestBackend
import Testing

@Suite("The recorded REST traffic")
struct RESTReplayTests {
    @Test("is sent and understood as by the JavaScript client, at the seam", arguments: HTTPRecording.rest.cases)
    func seam(recordedCase: RecordedCase) async throws {
        try await replay(recordedCase) { try SeamLane($0) }
    }

    @Test(
        "is sent and understood alike over URLSession", .inTurn, .enabled(if: !TestBackend.isSkipped),
        arguments: HTTPRecording.rest.cases)
    func urlSession(recordedCase: RecordedCase) async throws {
        try await replay(recordedCase) { try await ScriptLane($0, Self.urlSession) }
    }

    private static let urlSession = URLSessionHTTPClient()

    #if os(Linux)
        @Test(
            "is sent and understood alike over libcurl", .inTurn, .enabled(if: !TestBackend.isSkipped),
            arguments: HTTPRecording.rest.cases)
        func libcurl(recordedCase: RecordedCase) async throws {
            let client = try Self.libcurl.get()
            try await replay(recordedCase) { try await ScriptLane($0, client) }
        }

        private static let libcurl = Result { try CurlHTTPClient() }
    #endif

    private func replay(_ recordedCase: RecordedCase, _ makeLane: @escaping CallReplay.LaneMaker) async throws {
        try await CaseReplay.check(recordedCase, makeLane)
    }

    @Test("is replayed completely, and every deliberate difference has its reason")
    func summary() async throws {
        let recording = try HTTPRecording.rest.get()
        let counts = try await CaseReplay.differences(in: recording.cases)
        print("REST replay: \(recording.cases.count) of \(recording.count) recorded cases")
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(count) × \(reason)") }
        #expect(recording.cases.count == recording.count)
        #expect(Set(recording.cases.map(\.id)).count == recording.count)
        #expect(counts["NOT EXPLAINED"] == nil)
    }

    @Test("leaves out what we refuse: an empty list in a query, and get without an id")
    func refusals() async throws {
        let client = SeamHTTPClient(status: 204)
        let transport = RESTTransport(try #require(URL(string: "http://h")), httpClient: client)
        let find = ServiceRequest(path: "messages", method: .find, params: Params(query: ["id": ["$in": []]]))
        await #expect(throws: FeathersError.self) { try await transport.send(find) }
        let error = try await #require(throws: FeathersError.self) {
            try await transport.send(ServiceRequest(path: "messages", method: .get))
        }
        #expect(error.message == "id for 'get' can not be undefined")
        #expect(client.requests.isEmpty)
    }
}

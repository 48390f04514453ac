import FeathersCore
import Testing

@Suite("The replayer")
struct ReplaySensitivityTests {
    /// A recording of `messages.get(1)` with parts of it changed.
    private func recording(
        line: String = "GET /messages/1?a=1 HTTP/1.1", accept: String = "application/json",
        requestBody: JSONValue = nil,
        status: Int64 = 200,
        body: String = #"{"id":1}"#, outcome: JSONValue = ["resolved": ["id": 1]]
    ) throws -> RecordedCase {
        let request: JSONValue = [
            "line": .string(line), "headers": [["Accept", .string(accept)], ["X-A", "1"]], "body": requestBody,
        ]
        let response: JSONValue = ["status": .integer(status), "headers": [], "body": .string(body)]
        return try RecordedCase([
            "group": "g", "name": "n", "call": "x", "outcome": outcome,
            "exchanges": [["request": request, "response": response]],
        ])
    }

    private func aspects(_ recordedCase: RecordedCase) async throws -> [ReplayFinding.Aspect] {
        var replay = CaseReplay(recordedCase)
        try await replay.run { try SeamLane($0) }
        return replay.findings.filter { finding in !DeliberateDifference.table.contains { $0.covers(finding) } }.map(
            \.aspect)
    }

    @Test("finds nothing where all is as recorded")
    func nothing() async throws {
        #expect(try await aspects(recording()) == [])
        let error = #"{"name":"NotFound","message":"m","code":404,"className":"not-found"}"#
        let rejected: JSONValue = [
            "rejected": ["name": "NotFound", "message": "m", "code": 404, "className": "not-found"]
        ]
        #expect(try await aspects(recording(status: 404, body: error, outcome: rejected)) == [])
    }

    @Test("finds another method, target, header or body")
    func requests() async throws {
        #expect(try await aspects(recording(line: "HEAD /messages/1?a=1 HTTP/1.1")) == [.method])
        #expect(try await aspects(recording(line: "GET /messages/1?a[b]=1 HTTP/1.1")) == [.target])
        #expect(try await aspects(recording(line: "GET /messages/%61 HTTP/1.1")) == [.target])
        #expect(try await aspects(recording(line: "GET /messages/1? HTTP/1.1")) == [.target])
        #expect(try await aspects(recording(requestBody: "{}")) == [.body])
        #expect(
            try await aspects(recording(line: "PUT /messages/1?a=1 HTTP/1.1", requestBody: #"{"a": 1}"#)) == [
                .body, .header("content-type"),
            ])
    }

    @Test("finds another outcome")
    func outcomes() async throws {
        #expect(try await aspects(recording(outcome: ["resolved": ["id": 2]])) == [.outcome])
        #expect(try await aspects(recording(outcome: ["rejected": ["message": "m"]])) == [.outcome])
        #expect(try await aspects(recording(status: 404, body: #"{"name":"NotFound"}"#)) == [.outcome])
        let error = #"{"name":"NotFound","message":"m","code":404,"className":"not-found","data":{"a":1}}"#
        let rejected: JSONValue = ["rejected": ["name": "Conflict", "message": "other", "code": 409, "data": ["a": 2]]]
        let found = try await aspects(recording(status: 404, body: error, outcome: rejected))
        #expect(found == ["name", "message", "code", "data"].map { .outcomeError($0) })
    }
}

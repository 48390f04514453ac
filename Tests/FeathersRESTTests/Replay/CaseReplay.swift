import FeathersCore
import FeathersREST
import FeathersSupport
import Testing

/// Replays a whole case: its calls one after the other, then what the case as a whole gave its caller.
struct CaseReplay {
    let recordedCase: RecordedCase
    private(set) var findings: [ReplayFinding] = []
    /// The items of streamed results.
    private var items: [JSONValue] = []

    init(_ recordedCase: RecordedCase) {
        self.recordedCase = recordedCase
    }

    /// Replays a case, and reports every difference without a reason.
    static func check(_ recordedCase: RecordedCase, _ makeLane: @escaping CallReplay.LaneMaker) async throws {
        var replay = CaseReplay(recordedCase)
        try await replay.run(makeLane)
        for finding in replay.findings where !DeliberateDifference.table.contains(where: { $0.covers(finding) }) {
            Issue.record("\(finding)")
        }
    }

    /// Replays cases at the seam, and counts their differences by reason.
    static func differences(in cases: [RecordedCase]) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for recordedCase in cases {
            var replay = CaseReplay(recordedCase)
            try await replay.run { try SeamLane($0) }
            for finding in replay.findings {
                let row = DeliberateDifference.table.first { $0.covers(finding) }
                counts[row?.reason ?? "NOT EXPLAINED", default: 0] += 1
            }
        }
        return counts
    }

    mutating func run(_ makeLane: @escaping CallReplay.LaneMaker) async throws {
        if recordedCase.query.contains("[]") || recordedCase.query.contains("{}") {
            note(.droppedFromQuery, recordedCase.query, "refused")
        }
        var last: Result<JSONValue, any Error>?
        for exchanges in recordedCase.calls {
            var call = CallReplay(recordedCase, exchanges, makeLane)
            last = try await call.run()
            findings += call.findings
            items += call.items ?? []
        }
        guard let last else {
            note(.noTraffic, "\(JSONValue.object(recordedCase.outcome))", "")
            return
        }
        if recordedCase.isRaw {
            compareStatus(last)
        } else if let yielded = recordedCase.outcome["yielded"]?.array {
            compareItems(yielded, last)
        } else if let response = recordedCase.exchanges.last?.response, response.content == nil {
            note(.clipped, response.body?.text ?? "", "\(last)")
        } else {
            compareOutcome(last)
        }
    }

    /// A raw case tells the status its caller saw.
    private mutating func compareStatus(_ result: Result<JSONValue, any Error>) {
        let recorded = recordedCase.outcome["resolved"]?["status"]?.integer.map { Int($0) }
        switch result {
        case .success:
            if let recorded, !(200..<300).contains(recorded) { note(.outcome, "status \(recorded)", "a result") }
        case .failure(let error as FeathersError):
            let status = error.response?.status ?? error.code.rawValue
            if let recorded, recorded != status { note(.outcome, "status \(recorded)", "\(error)") }
        case .failure(let error):
            note(.outcome, "status \(recorded ?? 0)", "\(error)")
        }
    }

    /// Compares the items of streamed results. A client that left has seen the first ones.
    private mutating func compareItems(_ yielded: [JSONValue], _ result: Result<JSONValue, any Error>) {
        let isLeft = ["client-abort", "open"].contains(recordedCase.exchanges.last?.response?.end)
        let seen = isLeft ? Array(items.prefix(yielded.count)) : items
        let isClipped = recordedCase.exchanges.contains { $0.response?.body?.isWhole == false }
        if seen != yielded, !isClipped { note(.outcome, "\(yielded)", "\(items)") }
        let isFailure = if case .failure = result { true } else { false }
        let isRejected =
            recordedCase.outcome["rejected"] != nil && recordedCase.exchanges.last?.response?.end != "client-abort"
        if isFailure != isRejected { note(.outcome, "\(JSONValue.object(recordedCase.outcome))", "\(result)") }
    }

    private mutating func compareOutcome(_ result: Result<JSONValue, any Error>) {
        if let rejected = recordedCase.outcome["rejected"]?.object {
            compareRejection(rejected, result)
        } else if case .success(let value) = result {
            let resolved = recordedCase.outcome["resolved"] ?? .null
            if !Self.contains(value, resolved), !Self.isClip(resolved, of: value) {
                note(.outcome, "\(resolved)", "\(value)")
            }
        } else {
            note(.outcome, "\(JSONValue.object(recordedCase.outcome))", "\(result)")
        }
    }

    private mutating func compareRejection(_ rejected: JSONObject, _ result: Result<JSONValue, any Error>) {
        guard case .failure(let error as FeathersError) = result else {
            note(.outcome, "\(JSONValue.object(rejected))", "\(result)")
            return
        }
        for difference in ErrorFields.differences(between: rejected, and: error) {
            note(.outcomeError(difference.field), difference.recorded, difference.ours)
        }
        if rejected["instanceofFeathersError"] == false, rejected["code"] != nil {
            note(.outcomeError("class"), rejected["constructor"]?.string ?? "", "FeathersError")
        }
    }

    /// Whether `part` is `value`, stands somewhere in it, or is an object of such parts: what a case's `.then(r =>
    /// r.id)` picks.
    private static func contains(_ value: JSONValue, _ part: JSONValue) -> Bool {
        if stands(part, in: value) { return true }
        guard let parts = part.object, !parts.isEmpty else { return false }
        return parts.allSatisfy { stands($0.value, in: value) }
    }

    private static func stands(_ part: JSONValue, in value: JSONValue) -> Bool {
        if value == part { return true }
        switch value {
        case .array(let array): return array.contains { stands(part, in: $0) }
        case .object(let object): return object.contains { stands(part, in: $0.value) }
        default: return false
        }
    }

    /// A clipped outcome tells length and SHA-256 of the value's JSON.
    private static func isClip(_ clip: JSONValue, of value: JSONValue) -> Bool {
        guard clip["clippedJson"] != nil, let bytes = try? value.serialized() else { return false }
        return clip["bytes"]?.integer == Int64(bytes.count) && clip["sha256"]?.string == SHA256.hex(bytes)
    }

    private mutating func note(_ aspect: ReplayFinding.Aspect, _ recorded: String, _ ours: String) {
        findings.append(ReplayFinding(recordedCase: recordedCase, aspect: aspect, recorded: recorded, ours: ours))
    }
}

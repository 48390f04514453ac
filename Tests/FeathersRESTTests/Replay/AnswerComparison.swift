import FeathersCore

/// Compares what our transport made of one answer with the answer itself.
struct AnswerComparison {
    let recordedCase: RecordedCase
    /// Nil where none came.
    let response: RecordedResponse?
    let result: Result<JSONValue, any Error>
    /// The items of a streamed result.
    var items: [JSONValue]?

    var findings: [ReplayFinding] {
        guard let response else { return timeoutFindings }
        if response.isEventStream, let items {
            return items == response.items || response.body?.isWhole == false
                ? [] : [finding(.result, "\(response.items)", "\(items)")]
        }
        guard response.content != nil else { return [finding(.clipped, response.body?.text ?? "", "\(result)")] }
        return (200..<300).contains(response.status) ? resultFindings(response) : errorFindings(response)
    }

    private var timeoutFindings: [ReplayFinding] {
        if case .failure(let error as FeathersError) = result, error.code == .timeout,
            error.execution == .mayHaveExecuted
        {
            return []
        }
        return [finding(.error("code"), "no answer", "\(result)")]
    }

    private func resultFindings(_ response: RecordedResponse) -> [ReplayFinding] {
        let isEmpty = response.status == 204 || response.body == nil || response.body?.bytes.isEmpty == true
        let expected: JSONValue? = isEmpty ? .null : response.value
        switch result {
        case .success(let value):
            return value == expected ? [] : [finding(.result, "\(expected ?? "no JSON")", "\(value)")]
        case .failure(let error):
            guard expected == nil, let error = error as? FeathersError, error.response?.status == response.status else {
                return [finding(.result, "\(expected ?? "no JSON")", "\(error)")]
            }
            return []
        }
    }

    private func errorFindings(_ response: RecordedResponse) -> [ReplayFinding] {
        guard case .failure(let error as FeathersError) = result else {
            return [finding(.error("code"), "status \(response.status)", "\(result)")]
        }
        guard let body = response.value?.object else {
            let isKept = error.response == FeathersError.Response(status: response.status, body: response.content ?? [])
            return isKept && error.code.rawValue == response.status
                ? [] : [finding(.error("answer"), "status \(response.status)", "\(error)")]
        }
        return ErrorFields.differences(between: body, and: error).map {
            finding(.error($0.field), $0.recorded, $0.ours)
        }
    }

    private func finding(_ aspect: ReplayFinding.Aspect, _ recorded: String, _ ours: String) -> ReplayFinding {
        ReplayFinding(recordedCase: recordedCase, aspect: aspect, recorded: recorded, ours: ours)
    }
}

/// The fields of an error that callers see, ours and JavaScript's.
enum ErrorFields {
    /// Compares every field JavaScript's error has.
    static func differences(between recorded: JSONObject, and error: FeathersError) -> [(
        field: String, recorded: String, ours: String
    )] {
        let ours: [(String, JSONValue?)] = [
            ("name", .string(error.name)), ("message", .string(error.message)),
            ("code", .integer(Int64(error.code.rawValue))),
            ("className", .string(error.className)), ("data", error.data), ("errors", error.errors),
        ]
        return ours.compactMap { field, value in
            guard let expected = recorded[field], expected != value else { return nil }
            return (field, expected.description, value?.description ?? "(none)")
        }
    }
}

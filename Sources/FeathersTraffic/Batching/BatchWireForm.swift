import FeathersCore

/// A batch as `feathers-batch` has it: calls as over Socket.IO, answers as of JavaScript's `Promise.allSettled`.
enum BatchWireForm {
    /// What is created at the batch service.
    static func data(of calls: [JSONValue]) -> JSONValue {
        ["calls": .array(calls)]
    }

    /// The results, in the order of the calls.
    /// - Throws: ``FeathersError/Code/generalError`` where the answer is not one of so many calls.
    static func results(of answer: JSONValue, count: Int, from path: String) throws(FeathersError) -> [Result<JSONValue, any Error>] {
        guard let settled = answer.array, settled.count == count else {
            throw FeathersError(
                .generalError,
                "The batch service '\(path)' answered \(count) calls with \(answer.array.map { "\($0.count) results" } ?? "no list")")
        }
        return settled.map { result in
            switch result["status"] {
            case "fulfilled": return .success(result["value"] ?? .null)
            case "rejected": return .failure(FeathersError(wire: result["reason"] ?? .null))
            default:
                return .failure(
                    FeathersError(.generalError, "The batch service '\(path)' answered a call with neither 'fulfilled' nor 'rejected'"))
            }
        }
    }
}

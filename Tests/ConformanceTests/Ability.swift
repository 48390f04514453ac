import Feathers
import Testing

/// What the suites ask of every subject, and a protocol may have no form for.
enum Ability: Hashable {
    /// Replacing a record as a whole.
    case update
    case customMethods
    /// Changing and removing whatever a condition holds for.
    case changesByCondition
    /// Conditions of which one is enough.
    case alternatives
    /// Answering a removal with the record.
    case removedRecords
    /// Answering with null, and with what is no record.
    case bareResults
    /// Telling how many records a page holds, or that a list is no page.
    case pageSizes
    /// Errors with members of FeathersJS' names.
    case feathersErrors
}

extension Subject {
    /// Whether the suites may ask this of the subject; where not, they ask for the refusal, see
    /// ``expectRefusal(of:_:)``.
    func can(_ ability: Ability) -> Bool { lacks[ability] == nil }

    /// Expects that what the subject lacks is refused before anything is sent, by an error that says so.
    func expectRefusal(of ability: Ability, _ call: () async throws -> some Any) async {
        await #expect("\(testDescription): \(lacks[ability] ?? "can do it")") {
            _ = try await call()
        } throws: { error in
            let code: FeathersError.Code = ability == .alternatives ? .badRequest : .methodNotAllowed
            return (error as? FeathersError)?.execution == .neverSent && code ~= error
        }
    }
}

/// A refusal in other words than FeathersJS'.
struct OtherRefusal: Sendable {
    let code: FeathersError.Code
    let message: String
    let execution: FeathersError.Execution
}

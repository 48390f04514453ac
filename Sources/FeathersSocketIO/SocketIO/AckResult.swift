import FeathersCore

/// Parses the arguments of an acknowledgement in the form that FeathersJS servers use: `[error]`, or `[null, result]`.
enum AckResult {
    static func read(_ arguments: [JSONValue]) -> Result<JSONValue, any Error> {
        if let error = arguments.first, error.isTruthy { return .failure(FeathersError(wire: error)) }
        return .success(arguments.count > 1 ? arguments[1] : .null)
    }
}

extension JSONValue {
    /// Whether JavaScript considers the value true.
    fileprivate var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let bool): bool
        case .integer(let integer): integer != 0
        case .number(let number): number != 0 && !number.isNaN
        case .string(let string): !string.isEmpty
        case .array, .object, .decimal: true
        }
    }
}
